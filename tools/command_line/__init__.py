"""The subcommands of `deskhand`: their names, options and help texts."""
