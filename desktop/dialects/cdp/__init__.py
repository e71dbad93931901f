"""The Chrome DevTools Protocol of the desktop's browser, behind our access control."""
