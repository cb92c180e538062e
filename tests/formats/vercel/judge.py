"""Vercel AI SDK, current: calls have `input`, results `output`."""

from tests.formats.ai_sdk.judge import Version

JUDGE = Version("vercel", "input", "output", ("args", "result", "isError"), "inputSchema")
