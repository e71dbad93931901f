"""Run commands: own sessions, bounded output, waits and signals."""
