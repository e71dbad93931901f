"""Files of people that become downloads of the desktop."""
