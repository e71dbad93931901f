"""The subcommands of `deskhand`, loaded when they are asked for."""
