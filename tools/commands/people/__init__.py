"""Commands for the people of a control plane."""
