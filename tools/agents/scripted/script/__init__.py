"""Scripts of the scripted model, and the player that computes its replies."""
