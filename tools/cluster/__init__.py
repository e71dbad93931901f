"""What control planes of one database need: certificates, live events, connections to gates."""
