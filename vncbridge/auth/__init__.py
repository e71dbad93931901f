"""Access control: host, origin, credential, scope and revocation; middleware and token routes."""
