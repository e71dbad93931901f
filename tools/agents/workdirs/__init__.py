"""Working directories of chats: files in them before the first step, and files handed out."""
