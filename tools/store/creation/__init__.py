"""Creation of a database with the newest schema, and migration of an older one."""
