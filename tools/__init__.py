"""Process and file core, agents and their tools, control plane, command line."""
