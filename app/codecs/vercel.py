"""Vercel AI SDK 5 and later: `input`, `output{type, value}`; system text beside the messages.

SDK 7 refuses system messages inside; 6 and later throw when a call has no result.
"""

from dataclasses import replace

from app.codecs.ai_sdk import PROFILE, AiSdkCodec
from app.core.wire.codec import Codec

CODEC: Codec = AiSdkCodec(
    replace(PROFILE, wire="vercel", issuers=frozenset({"vercel"})), nicknames=("aisdk",)
)
