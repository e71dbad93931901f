"""The desktop's browser: program, sandbox, policy, refused pages, and its debugging pipe."""
