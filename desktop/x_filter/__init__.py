"""Filter between the agent's programs and the X server: what they may ask of it."""
