"""Window list, arrangement and observation; keyboard focus."""
