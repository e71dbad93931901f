"""OSWorld: the protocol of its server, by which `desktop-env` runs tasks on a desktop."""
