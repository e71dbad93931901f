"""The user, directory and environment that a desktop works with."""
