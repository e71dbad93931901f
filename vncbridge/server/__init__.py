"""uvicorn as we run it: socket, limits, shutdown, access log, JSON log."""
