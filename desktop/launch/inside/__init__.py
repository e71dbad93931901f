"""Init, the first process inside a desktop, which starts programs; standard library only."""
