"""The control plane over HTTP, and its pages."""
