"""Watch the git repositories that a chat works in."""
