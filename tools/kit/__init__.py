"""The tools that a model may call, one module a tool or tight family."""
