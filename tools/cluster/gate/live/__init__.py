"""Live views of a node, which browsers open with tickets."""
