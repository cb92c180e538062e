"""API keys and tenants: who asks, and whether they may.

`http.Access` checks the key of a request, its scopes and limits, `commands` makes keys, `sql` finds
them. Keys as values are in `model.api_keys`. Only the hash of a key is stored.
"""
