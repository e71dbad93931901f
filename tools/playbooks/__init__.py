"""Vocabulary of playbooks: the steps of a run that can be replayed without a model."""
