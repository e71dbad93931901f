"""OpenAI's Responses protocol through its SDK."""
