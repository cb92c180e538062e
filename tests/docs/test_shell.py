"""The runner of pages sees what differs, and lets pass what is left out."""

from pathlib import Path

import pytest

from tests.docs.shell import Block, differs, documents, run, steps

PRINTED = '{"id": "c1", "at": "2026-01-02", "turns": [{"seq": 1}, {"seq": 2}], "none": null}'


@pytest.mark.parametrize(
    "shown",
    [
        PRINTED,
        '{"id": "c1", "at": "2026-…", "turns": [{"seq": 1}, …], "none": null}',
        '{"id": "c1", …}',
        '{"turns": […], …}',
        '{"turns": …, "id": "…1", …}',
    ],
)
def test_what_is_left_out_may_be_anything(shown: str) -> None:
    assert differs(Block("json", shown), PRINTED) is None


@pytest.mark.parametrize(
    ("shown", "where"),
    [
        ('{"id": "c2", …}', "/id: shown 'c2', printed 'c1'"),
        ('{"id": "c1"}', "not shown ['at', 'turns', 'none']"),
        ('{"title": "x", …}', "not there ['title']"),
        ('{"turns": [{"seq": 1}], …}', "/turns: 2 of 1"),
        ('{"turns": [{"seq": 1}, {"seq": 2}, {"seq": 3}, …], …}', "/turns: 2 of 3"),
        ('{"turns": [{"seq": 2}, …], …}', "/turns/0/seq"),
        ('{"at": "2025-…", …}', "/at"),
        ('{"none": 0, …}', "/none"),
        ('{"turns": {…}, …}', "/turns"),
    ],
)
def test_what_differs_is_named(shown: str, where: str) -> None:
    assert where in str(differs(Block("json", shown), PRINTED))


def test_texts_are_compared_too() -> None:
    assert differs(Block("text", "a …\nc\n"), "a b\nc") is None
    assert differs(Block("text", "a …\nd\n"), "a b\nc") is not None


def test_blocks_share_a_shell_and_a_failing_one_is_shown(tmp_path: Path) -> None:
    page = "```sh\nA=1\n```\n```sh\necho $A\n```\n```text\n1\n```\n```python\nprint([2])\n```\n"
    found = steps(page)
    assert [one.shown for one in found] == [None, Block("text", "1\n"), None]
    printed = run([one.block for one in found], "http://nowhere", tmp_path)
    assert printed == ["", "1\n", "[2]\n"]
    with pytest.raises(AssertionError, match="no-such-command"):
        run([Block("sh", "true"), Block("sh", "no-such-command\n")], "http://nowhere", tmp_path)


def test_documents_may_stand_one_behind_the_other() -> None:
    assert documents('{"a": 1}{"b": 2}\n[3]') == [{"a": 1}, {"b": 2}, [3]]
