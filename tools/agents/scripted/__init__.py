"""The scripted model: a loopback server that speaks a provider protocol."""
