"""Turnkeep keeps the conversations of agents and serves them back, valid, for any provider.

  main.py  settings.py  start.py  __main__.py

  # the spine: everything that a POST of turns and a GET of a replay need
  model/         conversation, turn and block values; errors; limits; wording of messages
  jsontext/      reading and writing JSON without losing digits, key order or odd characters
  formats/       one file or folder per wire format: parse, write, stream, tools, profile
  ledger/        ids of calls and turns; which result belongs to which call
  database/      engine, tables, writer, transactions
  edge/          application-wide HTTP: problems, bodies, OpenAPI, metrics, health
  conversations/ create, list, rename, delete
  tools/         tool definitions: reading, schemas, rendering for a provider
  turns/         append, list and read turns; streams
  replay/        a history rendered for one provider; options, windows, the render cache

  # the limbs
  sync/          append what is new in a whole message list
  search/        find conversations by words, ids, tools, metadata
  audit/         tool calls and ids: list, look up
  verify/        recompute every id, hash and mapping
  transfer/      import and export; one file per foreign session format
  convert/       conversion without storage
  access/        API keys and tenants
  upkeep/        expiry, backup
  events/        notifications of new turns
  pages/         the web pages: views, templates, static files
  cli/           one file per command

In each folder `http.py` has the routes, `sql.py` the statements, `commands.py` the decisions that
change a conversation, `queries.py` the reads; files with other names are pure code, but for those
of `database/`, `edge/`, `pages/`, `events/`, `upkeep/` and `cli/`. Models of requests and responses
are in `*_models.py`. A folder imports those above it in the list of the spine, and limbs import the
spine; `pages/` and `cli/` import whatever they show. pyproject.toml names the exceptions
([tool.importlinter]). Imports are relative: a wheel installs this folder as the package `turnkeep`.
"""

__version__ = "0.1.0"
