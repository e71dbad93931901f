"""Context of agents: instruction files and skills, read from the agent's files."""
