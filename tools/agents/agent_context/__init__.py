"""Context of agents in their prompts: instruction files and skills, read when a chat starts."""
