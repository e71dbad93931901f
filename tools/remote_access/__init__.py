"""How people and programs of other machines reach the control plane: TLS, proxies, addresses."""
