"""Vercel AI SDK 4: `args`, `result`, `isError`; plain text is one string, joined with newlines.

Every result carries `toolName` (the SDK's own schema refuses one without it); `result` is never
null.
"""

from dataclasses import replace

from app.codecs.ai_sdk import PROFILE, AiSdkCodec
from app.core.wire.codec import Codec

CODEC: Codec = AiSdkCodec(
    replace(PROFILE, wire="vercel-v4", issuers=frozenset({"vercel", "vercel-v4"})), is_v4=True
)
