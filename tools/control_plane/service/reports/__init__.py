"""The reports of a control plane about itself: metrics, and the page *System*."""
