"""The storage, the same tests on SQLite and on PostgreSQL."""
