"""Revisions of the database schema, run by Alembic."""
