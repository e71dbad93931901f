"""Vocabulary of one computer (errors, fields, geometry, results, settings), client and entry."""
