"""What happens in the background and now and then: expiry, forgetting, backup.

`sweeper` removes what has expired a few rows at a time and forgets what was erased, `sqlite_backup`
copies an SQLite database while others write.
"""
