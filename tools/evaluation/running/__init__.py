"""Running of tasks: served pages, set-up, agents in parallel on a clean desktop each."""
