"""The audit log: who did what, as hash chains in the database."""
