"""PyAV and MP4: encoder, colour conversion, container, clips, JPEG."""
