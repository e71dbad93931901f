"""Commands that serve other programs."""
