"""What people are told who make a plausible mistake: `mistakes.md`, to be read by people.

`TURNKEEP_REWRITE_GOLDEN=1` writes the file anew. Read every line of the difference as somebody who
is tired: would you know what to do?
"""

import os
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from tests.mistakes import bodies, conditions, messages, reading, responses, tools
from tests.mistakes.mistake import CONTENT, request_lines, sent, without_targets

# What may be stored comes last: the others say at which version the conversation is.
SECTIONS = (bodies, conditions, reading, tools, messages, responses)
MISTAKES = [mistake for section in SECTIONS for mistake in section.MISTAKES]
GOLDEN = Path(__file__).parent / "mistakes.md"
REWRITE = bool(os.environ.get("TURNKEEP_REWRITE_GOLDEN"))
INTRODUCTION = """\
# Mistakes, and what they are told

Requests that somebody plausibly sends, and the answers: status, code, pointer, detail. Written
by `test_mistakes.py`; the conversation `c1` has three turns. Content that is posted is always the
word "hedgehog"; it never comes back. Where all targets are listed, the first two stand for them.
"""


def answer_lines(answer: Any) -> list[str]:
    if "json" not in answer.headers.get("content-type", ""):
        return [f"**{answer.status_code}** to {answer.headers['location']}"]
    body = answer.json()
    if answer.status_code < 400:
        notes = [f"{note['code']}: {note['detail']}" for note in body.get("notes", [])]
        return [f"**{answer.status_code}**, and it is stored", *notes]
    where = f" at `{body['pointer']}`" if "pointer" in body else ""
    allow = f", allow {answer.headers['allow']}" if "allow" in answer.headers else ""
    return [
        f"**{answer.status_code} {body['code']}**{where}{allow}",
        f"> {without_targets(body['detail'])}",
    ]


def written(http: TestClient) -> str:
    parts = [INTRODUCTION]
    for section in SECTIONS:
        parts.append(f"## {section.TITLE}\n")
        for mistake in section.MISTAKES:
            request = "\n".join(request_lines(mistake))
            answer = "\n".join(answer_lines(sent(http, mistake)))
            parts.append(f"### {mistake.title}\n\n```\n{request}\n```\n{answer}\n")
    return "\n".join(parts)


def version(http: TestClient) -> int:
    count: int = http.get("/v1/conversations/c1").json()["version"]
    return count


def test_mistakes_are_told_what_the_file_says(http: TestClient) -> None:
    text = written(http)
    if REWRITE:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_no_mistake_is_a_defect_or_repeats_content_or_is_half_stored(http: TestClient) -> None:
    for mistake in MISTAKES:
        before = version(http)
        answer = sent(http, mistake)
        assert (mistake.title, answer.status_code < 500) == (mistake.title, True)
        assert (mistake.title, CONTENT in answer.text) == (mistake.title, False)
        assert (mistake.title, len(answer.text) < 2000) == (mistake.title, True)
        if answer.status_code >= 400:
            assert (mistake.title, version(http)) == (mistake.title, before)


def test_every_mistake_has_a_title_of_its_own() -> None:
    titles = [mistake.title for mistake in MISTAKES]
    assert [title for title in titles if titles.count(title) > 1] == []
