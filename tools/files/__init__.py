"""Read, write and edit files exactly and atomically."""
