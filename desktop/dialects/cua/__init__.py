"""The protocol of cua's computer server: commands over HTTP and WebSocket."""
