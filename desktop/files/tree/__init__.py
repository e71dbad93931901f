"""Changes of a tree of files: directories, appended content, removal, and the status of a path."""
