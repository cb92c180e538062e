"""Programs to copy: ask for a replay and hand it to the provider's own SDK."""

import json
from dataclasses import dataclass
from shlex import quote


@dataclass(frozen=True, slots=True)
class Snippet:
    language: str
    text: str


def quoted(text: str) -> str:
    """A text as Python and JavaScript both write it."""
    return json.dumps(text)


# What the request of a replay is handed to, in the words of docs/providers.md: what is imported,
# and the call.
_CHAT = 'OpenAI({base}).chat.completions.create(model="…", **request)'
_RESPONSES = """OpenAI().responses.create(
    model="…", store=False, include=["reasoning.encrypted_content"], **request
)"""
_GEMINI = """genai.Client().models.generate_content(
    model="…", contents=request.pop("contents"), config=request
)"""
_CHAT_TS = 'await new OpenAI({base}).chat.completions.create({{ model: "…", ...request }});'
_RESPONSES_TS = """await new OpenAI().responses.create({
  model: "…", store: false, include: ["reasoning.encrypted_content"], ...request,
});"""
_ANTHROPIC_TS = (
    'await new Anthropic().messages.create({ model: "…", max_tokens: 1024, ...request });'
)
_HOSTS = {
    "openai": None,
    "kimi": "https://api.moonshot.ai/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "deepseek": "https://api.deepseek.com",
    "qwen": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
}
_OPENAI, _OPENAI_TS = "from openai import OpenAI", 'import OpenAI from "openai";'
_PYTHON = {
    "openai-responses": (_OPENAI, _RESPONSES),
    "anthropic": (
        "from anthropic import Anthropic",
        'Anthropic().messages.create(model="…", max_tokens=1024, **request)',
    ),
    "gemini": ("from google import genai", _GEMINI),
    "mistral": (
        "from mistralai.client import Mistral",
        'Mistral().chat.complete(model="…", **request)',
    ),
}
_TYPESCRIPT = {
    "openai-responses": (_OPENAI_TS, _RESPONSES_TS),
    "anthropic": ('import Anthropic from "@anthropic-ai/sdk";', _ANTHROPIC_TS),
}
for _target, _host in _HOSTS.items():
    _base = f"base_url={quoted(_host)}" if _host else ""
    _PYTHON[_target] = (_OPENAI, _CHAT.format(base=_base))
    _base = f"{{ baseURL: {quoted(_host)} }}" if _host else ""
    _TYPESCRIPT[_target] = (_OPENAI_TS, _CHAT_TS.format(base=_base))


def snippets(target: str, url: str) -> list[Snippet]:
    header = '-H "Authorization: Bearer $TURNKEEP_API_KEY" '
    imported, call = _PYTHON.get(target, ("", "print(request)  # see docs/providers.md"))
    python = [
        "import os",
        "",
        "import httpx",
        *([imported] if imported else []),
        "",
        f"url = {quoted(url)}",
        'key = os.environ.get("TURNKEEP_API_KEY", "")',
        'headers = {"Authorization": f"Bearer {key}"} if key else {}',
        'request = httpx.get(url, headers=headers).raise_for_status().json()["request"]',
        call,
    ]
    imported, call = _TYPESCRIPT.get(target, ("", "console.log(request);"))
    typescript = [
        *([imported, ""] if imported else []),
        f"const url = {quoted(url)};",
        "const key = process.env.TURNKEEP_API_KEY;",
        "const headers = key ? { Authorization: `Bearer ${key}` } : undefined;",
        "const { request } = await (await fetch(url, { headers })).json();",
        call,
    ]
    return [
        Snippet("curl", f"curl -s {header}\\\n  {quote(url)}"),
        Snippet("Python", "\n".join(python)),
        Snippet("TypeScript", "\n".join(typescript)),
    ]
