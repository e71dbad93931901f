"""Ray's processes of a node, which reserve room and do nothing else."""
