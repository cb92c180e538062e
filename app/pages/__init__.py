"""Pages for people, made by templates. They only read; what they show was said by anybody.

`page` says how a page answers, `templates` escapes whatever a turn says; `aligned`, `picture`,
`snippets` and `timeline` are what the pages show, and know no HTML. Files that browsers load are in
`web/`.
"""

from pathlib import Path

# Templates, style and script.
WEB = Path(__file__).parent / "web"
