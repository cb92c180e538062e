"""Pages for people, made by templates. They only read; what they show was said by anybody."""

from pathlib import Path

# Templates, style and script.
WEB = Path(__file__).parents[2] / "web"
