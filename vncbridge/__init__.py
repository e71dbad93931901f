"""Vocabulary of the edge to the network: errors."""
