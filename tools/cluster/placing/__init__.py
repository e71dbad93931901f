"""Where desktops run on the nodes of a cluster, decided by the placer that leads."""
