"""Questions of chats to people, as rows of the database: asked, awaited, answered."""
