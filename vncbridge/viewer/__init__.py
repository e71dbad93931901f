"""The live-view page and noVNC; serving of pages and assets, and the policy of who may frame."""
