"""Vocabulary of evaluations: tasks for agents, results of runs, and their errors."""
