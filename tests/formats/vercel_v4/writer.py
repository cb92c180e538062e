"""How version 4 of the AI SDK writes down what was said."""

from tests.formats.ai_sdk.writer import ai_sdk_v4
from tests.laws.said import Writer

WRITER = Writer(ai_sdk_v4, "system")
