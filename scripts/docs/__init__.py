"""What makes the documentation: the site, and its pictures."""
