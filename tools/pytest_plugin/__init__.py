"""Plugin for pytest: the fixture ``desktop``, and what a failed test leaves behind."""
