"""The process that opens the agent's files and runs git for the service, with the agent's user."""
