"""The desktops of nodes, as a control plane uses them: ordered in rows, reached through gates."""
