"""Texts that go into the field of a page that may have them, by the browser's pipe."""
