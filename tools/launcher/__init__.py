"""Process that keeps root: starts desktops, and opens what dead ones left."""
