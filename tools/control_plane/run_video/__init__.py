"""A run's recordings as one video."""
