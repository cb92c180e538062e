"""Where conversations are kept: tables, queries, transactions. The only SQLAlchemy."""
