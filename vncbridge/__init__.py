"""Show a desktop in a browser: RFB relay, credentials, viewer page."""
