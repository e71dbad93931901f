"""HTTP details every service needs once: ranges, ETags, file responses, SSE, disconnects."""
