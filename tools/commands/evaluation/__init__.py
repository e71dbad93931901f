"""The command that evaluates a model on tasks."""
