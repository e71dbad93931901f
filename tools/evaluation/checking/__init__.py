"""Checkers of tasks, which see the machine after the agent has ended and nothing else."""
