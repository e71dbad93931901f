"""Secrets that agents may type but not read: rules, codes, encryption at rest, masks in texts."""
