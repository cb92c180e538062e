"""Tool definitions and tool choice: kept with a conversation by version, offered on any wire.

`toolreading` reads and checks what is posted, `commands` keeps it, `fit` fits definitions to a wire
and notes what that took; `rewrite` and `combine` change schemas so that no input is refused that
was accepted before. `schemacheck` says whether a schema is JSON Schema.
"""
