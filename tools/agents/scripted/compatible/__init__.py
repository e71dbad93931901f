"""Chat completions of an OpenAI-compatible server, as the scripted model serves them."""
