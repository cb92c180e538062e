"""Notifications: whoever listens to a conversation is told when it changes.

`listening` looks at all conversations with listeners together, so that a listener holds no thread
and no connection. The route is that of `conversations/`. It uses `access/`, because a key may be
revoked while somebody listens.
"""
