"""The process core: run, list, signal, output, limits, and its routes."""
