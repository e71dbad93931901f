"""Templates of desktops: recipes in YAML files of the data directory."""
