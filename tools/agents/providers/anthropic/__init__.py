"""Anthropic's Messages protocol through its SDK."""
