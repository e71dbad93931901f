"""OpenAI's Responses protocol, as the scripted model serves it."""
