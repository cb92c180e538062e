"""Turnkeep keeps the conversations of agents and serves them back, valid, for any provider.

The folders are the architecture: `api` → `service` → (`storage` | `codecs`) → `core`,
with imports only downward.
"""

__version__ = "0.1.0"
