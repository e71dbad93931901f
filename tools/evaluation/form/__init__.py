"""Tasks as YAML files: the strict form, and finding tasks by name, file or folder."""
