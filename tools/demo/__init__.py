"""The demo: one page to work on and the job that works on it."""
