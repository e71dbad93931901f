"""Start of a desktop's processes: keeper, namespaces, init, service."""
