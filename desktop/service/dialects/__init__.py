"""One module for each dialect: its router for a desktop. Only those that are on are loaded."""
