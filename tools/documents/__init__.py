"""YAML that people write: strict reading whose errors have the line of the mistake."""
