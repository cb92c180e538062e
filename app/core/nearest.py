"""The word that somebody probably meant. Pure, and always the same answer."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

# Longer words are no misspelt names; comparing them would only take time.
_LONGEST = 64
_ALIKE = 0.7
# What people call providers, by how the name begins, and what the service calls them.
_ALIASES = {
    "claude": "anthropic",
    "gpt": "openai",
    "chatgpt": "openai",
    "azure": "openai",
    "chatcompletion": "openai",
    "responses": "openai-responses",
    "google": "gemini",
    "genai": "gemini",
    "vertex": "gemini",
    "moonshot": "kimi",
    "k2": "kimi",
    "aws": "bedrock",
    "amazon": "bedrock",
    "converse": "bedrock",
    "dashscope": "qwen",
    "alibaba": "qwen",
    "aisdk": "vercel",
    "magistral": "mistral",
    "codestral": "mistral",
}


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is written most alike; case, `_` and `-` do not count."""
    if len(word) > _LONGEST:
        return None
    by_fold = {_folded(one): one for one in known}
    found = get_close_matches(_folded(word), by_fold, 1, _ALIKE)
    return by_fold[found[0]] if found else None


def nearest_provider(name: str, known: Iterable[str]) -> str | None:
    """The same for names of providers, which also go by the names of their models and clouds."""
    names = list(known)
    folded = _folded(name)
    if len(name) > _LONGEST:
        return None
    for alias, meant in _ALIASES.items():
        if folded.startswith(alias) and meant in names:
            return meant
    if found := nearest(name, names):
        return found
    inside = [one for one in names if _folded(one) in folded]
    return max(inside, key=len, default=None)


def _folded(word: str) -> str:
    return re.sub(r"[\s_.-]", "", word.lower())
