"""The pure heart: identity, conversation values, ledger, the middle that makes histories valid."""
