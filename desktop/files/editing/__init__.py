"""Matching and replacing text exactly and fuzzily. Pure."""
