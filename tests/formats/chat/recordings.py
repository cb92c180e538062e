"""What any provider of the chat shape may stream: OpenAI's own recordings."""

from tests.formats.openai import recordings as openai

RECORDINGS = openai.RECORDINGS
