"""How each wire writes down what was said: one function per format, from a `Said` to messages.

To teach the laws a new format, write its function and name it here. A piece that a wire cannot
carry is left out by its function; what was really posted is read from the bodies.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.codecs import CODECS
from tests.laws.said import Said, Wire, WireObject
from tests.laws.wires.ai_sdk import ai_sdk, ai_sdk_v4
from tests.laws.wires.anthropic import anthropic
from tests.laws.wires.bedrock import bedrock
from tests.laws.wires.chat import chat, openrouter
from tests.laws.wires.gemini import gemini
from tests.laws.wires.neutral import neutral
from tests.laws.wires.responses import responses


@dataclass(frozen=True)
class Writer:
    """`beside` is the member for system text beside the messages, and `shape` its form there."""

    write: Callable[[Said], list[WireObject]]
    beside: str | None = None
    shape: Callable[[str], Wire] = str


_ALL: Mapping[str, Writer] = {
    "openai": Writer(chat),
    "kimi": Writer(chat),
    "mistral": Writer(chat),
    "deepseek": Writer(chat),
    "qwen": Writer(chat),
    "openrouter": Writer(openrouter),
    "anthropic": Writer(anthropic, "system"),
    "neutral": Writer(neutral),
    "openai-responses": Writer(responses, "instructions"),
    "gemini": Writer(gemini, "system_instruction", lambda text: {"parts": [{"text": text}]}),
    "bedrock": Writer(bedrock, "system", lambda text: [{"text": text}]),
    "vercel": Writer(ai_sdk, "system"),
    "vercel-v4": Writer(ai_sdk_v4, "system"),
}
WRITERS: Mapping[str, Writer] = {wire: one for wire, one in _ALL.items() if wire in CODECS}
