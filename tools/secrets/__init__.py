"""Secrets that agents may type but not read: rules, encryption at rest, masks in texts."""
