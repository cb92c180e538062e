"""Vercel AI SDK 4: `args`, `result`, `isError`; plain text is one string, joined with newlines.

Every result carries `toolName` (the SDK's own schema refuses one without it); `result` is never
null.
"""

from .ai_sdk import ai_sdk_codec

CODEC = ai_sdk_codec("vercel-v4", frozenset({"vercel", "vercel-v4"}), is_v4=True)
