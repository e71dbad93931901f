"""Model providers, one adapter each."""
