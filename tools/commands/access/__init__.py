"""Commands for credentials: links, tokens, secrets and the audit log."""
