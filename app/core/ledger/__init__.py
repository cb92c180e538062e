"""The ledger: which call a result belongs to, and what is kept of both."""
