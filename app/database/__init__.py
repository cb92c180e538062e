"""The database: engines, tables, migrations, reading, and the writer of all changes.

`database.Database` is the way in: `write` hands a command to the writer, `read` runs a query on a
snapshot. A writer takes all commands that wait as one group and one transaction: `loading` reads
what they need, each decides, `saving` writes all changes. `tables` has the schema,
`store.ReadStore` the statements of all capabilities, `sqlite` and `postgres` what differs between
the two.

One writer for many requests makes one commit for many appends, and ids need no locks.
"""
