"""How OpenRouter writes down what was said: with its reasoning in details."""

from tests.formats.chat.writer import openrouter
from tests.laws.said import Writer

WRITER = Writer(openrouter)
