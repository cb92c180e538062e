"""Vercel AI SDK 4: calls have `args`, results `result`."""

from tests.formats.ai_sdk.judge import Version

JUDGE = Version("vercel-v4", "args", "result", ("input", "output"), "parameters")
