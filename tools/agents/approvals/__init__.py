"""Approvals by people of what agents want to start, as rows of the database."""
