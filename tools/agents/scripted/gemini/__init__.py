"""Google's Gemini protocol, as the scripted model serves it."""
