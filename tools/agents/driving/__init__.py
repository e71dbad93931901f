"""Which control plane drives the turns of which chats, of several on one database."""
