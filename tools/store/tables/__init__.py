"""Tables, and what their definitions share."""
