"""Start of a program as one of the desktop's users: values, ports, children of the service."""
