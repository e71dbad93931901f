"""Assignment of desktops to chats."""
