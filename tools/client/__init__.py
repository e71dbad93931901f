"""Client of a control plane for programs: runs, desktops, files; async, generated sync twins."""
