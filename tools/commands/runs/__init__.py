"""Commands that list, follow, answer, stop and share runs."""
