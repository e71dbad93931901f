"""The YAML form of playbooks: strict reading with the line of each error, and writing."""
