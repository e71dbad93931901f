"""One WebSocket for each page: events of chats, desktops and viewers, and pictures of screens."""
