"""Threads that write frames and steps to files. The only folder that imports all others."""
