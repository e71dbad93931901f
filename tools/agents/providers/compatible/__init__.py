"""Chat completions of any OpenAI-compatible server, through OpenAI's SDK."""
