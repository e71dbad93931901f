"""Commands for the certificates, the nodes and the placer of a cluster."""
