"""uvicorn as we run it: socket, limits, WebSocket buffers and errors, shutdown, access/JSON log."""
