"""Checkpoints: where the history that a model is sent becomes shorter."""
