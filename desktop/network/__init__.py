"""Egress of one desktop: its network namespace, the rules in it, and what it refused."""
