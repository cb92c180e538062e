"""Model output is hostile: nothing in a turn runs, wherever it is shown."""

import json
from typing import Any

import httpx
import pytest

from tests.browser.conftest import Opener
from tests.browser.stories import post

# Each would say so if it ran: the page has a function of this name.
CORPUS = [
    "<script>ran()</script>",
    "</script><script>ran()</script>",
    "<img src=x onerror=ran()>",
    "<svg onload=ran()>",
    '"><script>ran()</script>',
    "'><img src=x onerror=ran()>",
    '" onmouseover="ran()" autofocus onfocus="ran()" x="',
    "</pre></details></template><script>ran()</script>",
    "<template><script>ran()</script></template>",
    "</title><script>ran()</script>",
    "</textarea><img src=x onerror=ran()>",
    "javascript:ran()",
    "data:text/html,<script>ran()</script>",
    "{{ ran() }}{% ran() %}${ran()}",
    "<a href=javascript:ran()>here</a>",
    "<iframe srcdoc='<script>parent.ran()</script>'></iframe>",
    "<math><mtext><table><mglyph><style><img src=x onerror=ran()>",
    "<noscript><p title='</noscript><img src=x onerror=ran()>'>",
    "&lt;script&gt;ran()&lt;/script&gt;",
    "\\u003cscript\\u003eran()\\u003c/script\\u003e",
    "<!--><script>ran()</script>-->",
    "<base href=//evil.example/>",
    "<link rel=stylesheet href=//evil.example/a.css>",
    "<meta http-equiv=refresh content='0;url=javascript:ran()'>",
    "<form action=javascript:ran()><button>x</button></form>",
    "\x00<script>ran()</script>",
    "\u202e<script>ran()</script>",
    "<scr\x00ipt>ran()</scr\x00ipt>",
]
PATHS = ("", "/identity", "/replay", "/replay?left=neutral&right=gemini", "/picture", "/verify")
# Where everything leads that a reader could follow; pictures have links, too.
ADDRESSES = """[...document.querySelectorAll("[src], a[href]")].map((one) =>
    new URL(one.getAttribute("src") ?? one.getAttribute("href"), location.href).href)"""


def _tell(http: httpx.Client, cid: str, evil: str) -> list[str]:
    """The words in every place that takes some. The ids of all turns."""
    body = {"id": cid, "title": evil, "metadata": {evil: evil}}
    assert http.post("/v1/conversations", json=body).status_code == 201
    call = {
        "id": evil,
        "type": "function",
        "function": {"name": evil, "arguments": json.dumps({evil: evil})},
    }
    broken = {"id": f"{evil}2", "type": "function", "function": {"name": "x", "arguments": evil}}
    picture = {"type": "image_url", "image_url": {"url": evil}}
    messages: list[Any] = [
        {"role": "system", "content": evil},
        {"role": "user", "content": [{"type": "text", "text": evil}, picture]},
        {"role": "assistant", "content": evil, "tool_calls": [call, broken]},
        {"role": "tool", "tool_call_id": evil, "content": evil},
        {"role": "tool", "tool_call_id": f"{evil}-orphan", "content": evil},
        {"role": "user", "content": evil * 200},
    ]
    post(http, cid, "openai", *messages, model=evil[:200])
    thought: list[Any] = [
        {"type": "thinking", "thinking": evil, "signature": evil},
        {"type": evil, "anything": evil},
        {"type": "text", "text": "."},
    ]
    receipt = post(http, cid, "anthropic", {"role": "assistant", "content": thought})
    first = http.get(f"/v1/conversations/{cid}/turns").json()["data"]
    return [turn["turn_id"] for turn in first] + [turn["turn_id"] for turn in receipt["turns"]]


@pytest.mark.parametrize("number", range(len(CORPUS)))
def test_nothing_runs(open_page: Opener, http: httpx.Client, number: int) -> None:
    evil = CORPUS[number]
    cid = f"evil-{number}"
    turns = _tell(http, cid, evil)
    page = open_page("/healthz")
    ran: list[str] = []
    page.context.expose_function("ran", lambda: ran.append(page.url))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    here = page.url.removesuffix("/healthz")
    addresses = [
        *(f"/c/{cid}{path}" for path in PATHS),
        *(f"/c/{cid}/turns/{turn}" for turn in turns[:3] + turns[-1:]),
        "/",
        f"/?{httpx.QueryParams({'q': evil, 'tool': evil, 'provider': evil, 'metadata': evil})}",
        f"/go?{httpx.QueryParams({'id': evil})}",
        f"/login?{httpx.QueryParams({'next': evil})}",
    ]
    for address in addresses:
        page.goto(address)
        # Everything is opened, so that everything is laid out.
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert page.evaluate("document.querySelectorAll('script:not([src])').length") == 0
        assert (
            page.evaluate("document.querySelectorAll('iframe, base, form[action^=java]').length")
            == 0
        )
        for where in page.evaluate(ADDRESSES):
            assert where.startswith((here, "data:image/")), where
    assert ran == []
    assert [url for url in asked if not url.startswith((here, "data:"))] == []
