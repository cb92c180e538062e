"""Files that hold whole histories: one module per kind of file, each from lines to histories.

`lists` reads what people write down themselves (message lists, fine-tuning lines, requests, our own
export). `claude_code` and `codex` read the session files of these two programs; `registry` finds
them, so another kind is one more module. Everything here is pure: lines in, values out; what cannot
be read is named with its line and does not stop the rest.
"""
