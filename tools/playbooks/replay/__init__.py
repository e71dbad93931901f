"""Replay of playbooks: the decisions, and the model that makes them in the loop of a chat."""
