"""Vercel AI SDK 5 and later: `input`, `output{type, value}`; system text beside the messages.

SDK 7 refuses system messages inside; 6 and later throw when a call has no result.
"""

from .ai_sdk import ai_sdk_codec

CODEC = ai_sdk_codec("vercel", frozenset({"vercel"}), nicknames=("aisdk",))
