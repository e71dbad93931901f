"""Backups of a data directory: incremental copies in a folder or a bucket, and their restoring."""
