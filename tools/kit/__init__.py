"""The tools that a model may call: one module each. The listing is the tool list."""
