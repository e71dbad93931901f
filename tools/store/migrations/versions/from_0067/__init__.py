"""Revisions from 0067 on, in the order of their ``down_revision``; new ones are added here."""
