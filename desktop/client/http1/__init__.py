"""HTTP/1.1 to a service on this machine, and answers whose content is still being received."""
