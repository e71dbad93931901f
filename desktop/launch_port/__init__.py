"""Start of a desktop from outside: the launch port, its implementation by exec, and records."""
