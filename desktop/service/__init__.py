"""One desktop composed and served; preloads files and libraries before the change of user."""
