"""The subcommands of `deskhand`, each loaded when it is called."""
