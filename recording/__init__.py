"""Record a desktop as a short video: idle squeezed, crash-safe, capped."""
