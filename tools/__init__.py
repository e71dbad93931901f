"""The `deskhand` command; agents, their tools and the control plane are its folders."""
