"""Model providers and the choice among them."""
