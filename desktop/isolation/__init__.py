"""The users, directories and environment that a desktop works with, and its protections."""
