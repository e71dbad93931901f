"""HTTP/1.1 to a service on this machine, for short requests."""
