"""What control planes of one database need for each other: certificates, and live events."""
