"""Anthropic's Messages protocol, as the scripted model serves it."""
