"""Vocabulary of one computer (errors, geometry, results, settings), its client and its entry."""
