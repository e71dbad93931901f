"""Control and viewing rights: rules, clock, hand-over, privacy, routes."""
