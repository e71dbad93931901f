"""The databases behind the store: SQLite for one control plane, PostgreSQL for several."""
