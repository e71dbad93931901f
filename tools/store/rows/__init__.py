"""Queries on what control planes share: which live, which chats each drives, and packs."""
