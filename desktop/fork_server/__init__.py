"""Fork server of desktops: each desktop is a copy of one process that has loaded everything."""
