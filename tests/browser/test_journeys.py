"""What engineers do at night, in a browser."""

import json
import re
import sqlite3
from pathlib import Path

import httpx
import psycopg
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.stories import chat_calls, post, tell_long, tell_support
from tests.e2e.server import serving


def test_a_raw_id_from_a_log_leads_to_what_happened(open_page: Opener, support: str) -> None:
    page = open_page("/")
    page.keyboard.press("/")
    page.keyboard.type("toolu_01")
    page.keyboard.press("Enter")
    call = page.locator("details.call.joined, details.call:target").first
    expect(call).to_be_visible()
    assert re.search(rf"/c/{support}\?at=6#call-hist_tool_", page.url)
    # One paste, one key: raw id, canonical id, state and result are open.
    expect(call).to_have_attribute("open", "")
    expect(call).to_contain_text("toolu_01")
    expect(call).to_contain_text("hist_tool_")
    expect(call).to_contain_text("answered")
    expect(call.locator(".other")).to_contain_text("timed out")


@pytest.mark.parametrize("which", ["conversation", "turn", "canonical", "mistral", "response"])
def test_any_id_leads_there(
    open_page: Opener, http: httpx.Client, support: str, which: str
) -> None:
    calls = http.get(f"/v1/conversations/{support}/tool-calls").json()["data"]
    call = calls[-1]
    response = {"id": "resp-77", "choices": [{"message": {"role": "assistant", "content": "hi"}}]}
    if which == "response":
        posted = {"provider": "openai", "response": {"object": "chat.completion", **response}}
        assert http.post("/v1/conversations/resp/turns", json=posted).status_code == 201
    wanted, where = {
        "conversation": (support, f"/c/{support}"),
        "turn": (call["turn_id"], f"/c/{support}?at={call['seq']}#turn-{call['seq']}"),
        "canonical": (call["id"], f"#call-{call['id']}"),
        "mistral": (call["ids"]["mistral"], f"#call-{call['id']}"),
        "response": ("resp-77", "/c/resp?at=1#turn-1"),
    }[which]
    page = open_page("/")
    page.get_by_label("Any id").fill(wanted)
    page.get_by_role("button", name="Go").click()
    page.wait_for_url(lambda url: url.endswith(where))


def test_an_id_that_several_know_is_listed(open_page: Opener, http: httpx.Client) -> None:
    for cid in ("twin-a", "twin-b"):
        post(http, cid, "openai", chat_calls("", ("call_twin", "read", {})))
    page = open_page("/go?id=call_twin")
    expect(page.get_by_role("heading", level=1)).to_have_text("2 places know this id")
    page.get_by_role("link", name="twin-a").click()
    expect(page.locator("details.call")).to_have_attribute("open", "")


def test_an_id_that_nobody_knows_is_searched_for(open_page: Opener) -> None:
    page = open_page("/go?id=call_nowhere")
    expect(page.get_by_text("Nothing is found.")).to_be_visible()


def test_conversations_are_found_by_what_they_have(
    open_page: Opener, http: httpx.Client, support: str
) -> None:
    post(http, "other", "mistral", {"role": "user", "content": "Nothing of the kind"})
    page = open_page("/")
    rows = page.locator("#conversations tbody tr")
    for label, value in (
        ("Search", "refund denied"),
        ("Search", "4711"),
        ("Search", "toolu_02"),
        ("Tool", "ledger"),
        ("Metadata", "team=refunds"),
    ):
        page.goto("/")
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_role("button", name="Find").click()
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text(support)
    page.goto("/?state=open&provider=kimi")
    expect(rows).to_have_count(1)
    expect(rows.locator(".state.open")).to_have_text("1")


def test_what_was_gone_to_stays_in_sight_while_turns_above_it_are_fetched(
    open_page: Opener, http: httpx.Client
) -> None:
    cid = tell_long(http, "slowly", 302)
    page = open_page(f"/c/{cid}")
    # The first brings what was asked for; those around it come when it is in sight.
    page.evaluate(
        """() => {
            const real = window.fetch;
            window.fetched = 0;
            window.fetch = async (...given) => {
                window.fetched += 1;
                if (window.fetched > 1) await new Promise((go) => { setTimeout(go, 500); });
                return real(...given);
            };
        }"""
    )
    page.get_by_role("link", name="result in turn 302").click()
    result = page.locator("#turn-302 details.result")
    expect(result).to_be_in_viewport()
    page.wait_for_timeout(2000)
    assert page.evaluate("window.fetched") > 1
    expect(result).to_be_in_viewport()


def test_a_call_and_its_result_show_each_other_across_any_distance(
    open_page: Opener, http: httpx.Client
) -> None:
    cid = tell_long(http, "distant", 302)
    page = open_page(f"/c/{cid}")
    first = page.locator("#turn-1 details.call")
    first.locator("summary").click()
    expect(first.locator(".other")).to_contain_text("Its result, in turn 302")
    page.get_by_role("link", name="result in turn 302").click()
    result = page.locator("#turn-302 details.result")
    expect(result).to_be_in_viewport()
    expect(result).to_have_attribute("open", "")
    page.mouse.move(0, 0)
    result.hover()
    expect(page.locator("#turn-1 details.call")).to_have_class(re.compile("joined"))


def test_all_turns_come_when_they_are_scrolled_to(open_page: Opener, http: httpx.Client) -> None:
    cid = tell_long(http, "scrolled", 602)
    page = open_page(f"/c/{cid}")
    expect(page.locator("#turn-1")).to_be_visible()
    assert page.locator(".turn").count() < 300
    for _ in range(200):
        page.mouse.wheel(0, 3000)
        if page.locator("#turn-602").count():
            break
        page.wait_for_timeout(30)
    expect(page.locator("#turn-602")).to_be_attached()


def test_what_was_posted_is_shown(open_page: Opener, support: str) -> None:
    page = open_page(f"/c/{support}")
    page.locator("#turn-3 .seq").click()
    expect(page.locator("pre.raw")).to_contain_text('"id": "functions.read:0"')


def test_an_interrupted_turn_and_its_completion(open_page: Opener, http: httpx.Client) -> None:
    piece = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "half of"}}]}
    stream = f"data: {json.dumps(piece)}\n\n"
    at = "/v1/conversations/broken/turns/stream?provider=openai&turn_id=t-1"
    headers = {"Content-Type": "text/event-stream"}
    assert http.post(at, content=stream, headers=headers).status_code == 201
    page = open_page("/c/broken")
    expect(page.locator("#turn-1 .state")).to_have_text("interrupted")
    whole = {"role": "assistant", "content": "half of it and the rest"}
    post(http, "broken", "openai", whole, turn_id="t-1")
    page.reload()
    expect(page.locator("#turn-1 .state")).to_have_text("completed later")
    page.locator("#turn-1 .seq").click()
    expect(page.locator(".earlier")).to_contain_text("half of")


def test_the_identity_table_tells_each_id_and_computes_it_again(
    open_page: Opener, http: httpx.Client, support: str
) -> None:
    page = open_page(f"/c/{support}/identity")
    [row] = [
        one
        for one in page.locator("#identity tbody tr").all()
        if "functions.read:1" in (one.text_content() or "")
    ]
    calls = http.get(f"/v1/conversations/{support}/tool-calls").json()["data"]
    [call] = [one for one in calls if one["raw_id"] == "functions.read:1"]
    expect(row).to_contain_text(call["id"])
    expect(row).to_contain_text(call["ids"]["mistral"])
    expect(row).to_contain_text("turn 5, raw")
    row.locator("summary").click()
    expect(row.locator("[data-input]")).to_have_text(call["hash_input"])
    expect(row.locator("[data-again]")).to_have_text(call["id"])
    # The browser has computed the same.
    expect(row.locator("[data-again]")).to_have_attribute("title", re.compile("this browser"))
    page.get_by_label("Filter these rows").fill("toolu_02")
    expect(page.locator("#identity tbody tr:visible")).to_have_count(1)
    page.get_by_label("Filter these rows").fill("")
    row.get_by_role("button", name="Copy").first.click()
    assert page.evaluate("navigator.clipboard.readText()") == "functions.read:1"
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    table = Path(download.value.path()).read_text()
    assert "functions.read:1" in table
    assert call["id"] in table


def test_two_replays_stand_side_by_side(
    open_page: Opener, http: httpx.Client, support: str
) -> None:
    page = open_page(f"/c/{support}/replay")
    expect(page.locator(".heads h2").first).to_contain_text("anthropic")
    marked = " ".join(page.locator("mark").all_text_contents())
    assert "toolu_" in marked
    assert "Order 4711" not in marked
    expect(page.get_by_text("a marked text of ours stands where no result").first).to_be_visible()
    assert page.locator("meter").count() > 8
    page.get_by_role("button", name="Copy JSON").first.click()
    replay = http.get(f"/v1/conversations/{support}/replay?provider=anthropic").json()
    assert json.loads(page.evaluate("navigator.clipboard.readText()")) == replay["request"]
    page.get_by_label("Right", exact=True).select_option("mistral")
    page.get_by_label("Tools", exact=True).select_option("flatten")
    page.get_by_label("Last turns").fill("4")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".heads h2").nth(1)).to_contain_text("mistral")
    page.get_by_role("button", name="Copy curl").nth(1).click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "provider=mistral&last=4&tools=flatten" in copied


def test_verify_says_what_was_checked_and_shows_the_chain(open_page: Opener, support: str) -> None:
    page = open_page(f"/c/{support}/verify")
    expect(page.get_by_text("Everything is as it was stored.")).to_be_visible()
    expect(page.locator(".chain li")).to_have_count(9)


def test_a_damaged_conversation_is_told_everywhere(open_page: Opener, tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        with httpx.Client(base_url=server.url) as http:
            tell_support(http, "hurt")
        with sqlite3.connect(tmp_path / "turnkeep.db") as database:
            database.execute("UPDATE turns SET hash = zeroblob(33) WHERE seq = 3")
        page = open_page("/c/hurt/verify", base=server.url)
        expect(page.get_by_role("alert")).to_contain_text("problems")
        expect(page.locator(".problems")).to_contain_text("HASH")


def test_the_odd_call_in_a_thousand_is_seen_at_a_glance(
    open_page: Opener, http: httpx.Client
) -> None:
    cid = tell_long(http, "pictured", 902)
    post(http, cid, "kimi", chat_calls("", ("functions.stuck:9", "stuck", {})))
    page = open_page(f"/c/{cid}/picture")
    expect(page.locator(".picture .mark")).to_have_count(302)
    expect(page.locator(".picture .mark.open")).to_have_count(1)
    page.locator(".picture .mark.open").click()
    expect(page.locator("details.call[open] summary b")).to_have_text("stuck")


def test_new_turns_appear_while_an_agent_runs(open_page: Opener, http: httpx.Client) -> None:
    post(http, "running", "openai", chat_calls("", ("call_live", "read", {})))
    page = open_page("/c/running")
    expect(page.locator("#live")).to_have_text("live")
    expect(page.locator("#turn-1 .state")).to_have_text("open")
    post(http, "running", "openai", {"role": "tool", "tool_call_id": "call_live", "content": "x"})
    expect(page.locator("#turn-2")).to_be_visible()
    expect(page.locator("#turn-1 .state")).to_have_text("answered")
    expect(page.locator("#version")).to_have_text("2")
    assert http.delete("/v1/conversations/running").is_success
    expect(page.locator("#live")).to_have_text("erased")


def test_everything_is_reached_by_keyboard(open_page: Opener, support: str) -> None:
    page = open_page("/")
    expect(page.locator("#conversations")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("tr.here")).to_have_count(1)
    page.goto(f"/c/{support}")
    for _ in range(3):
        page.keyboard.press("j")
    expect(page.locator("#turn-3")).to_have_class(re.compile("here"))
    page.keyboard.press("o")
    expect(page.locator("#turn-3 details.call[open]")).to_have_count(2)
    page.keyboard.press("r")
    expect(page.locator("#turn-4")).to_have_class(re.compile("here"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.wait_for_url("**/identity")
    page.keyboard.press("3")
    page.wait_for_url("**/replay")


def test_without_scripts_the_pages_still_read(http: httpx.Client) -> None:
    cid = tell_long(http, "plain", 152)
    told = http.get(f"/c/{cid}").text
    assert "Turns 51 to 100" in told
    assert 'id="turn-120"' in http.get(f"/c/{cid}?at=120").text


def _erase(page: Page, cid: str, key: str | None) -> None:
    page.get_by_role("button", name="Erase…").click()
    page.get_by_label("Type the id of the conversation").fill(cid)
    if key:
        page.get_by_label("An API key with the scope admin").fill(key)
    page.get_by_role("button", name="Erase", exact=True).click()


def test_erasing_asks_for_the_id(open_page: Opener, http: httpx.Client) -> None:
    post(http, "doomed", "openai", {"role": "user", "content": "hello"})
    page = open_page("/c/doomed")
    _erase(page, "doomed", None)
    page.wait_for_url(lambda url: url.endswith("/"))
    assert http.get("/v1/conversations/doomed").status_code == 404


def test_erasing_says_what_is_not_removed_yet(
    open_page: Opener, tmp_path: Path, postgres_database_url: str
) -> None:
    with serving(tmp_path, "--database-url", postgres_database_url) as server:
        with httpx.Client(base_url=server.url) as http:
            post(http, "held", "openai", *[{"role": "user", "content": "hello"}] * 21)
        page = open_page("/c/held", base=server.url)
        with psycopg.connect(postgres_database_url) as other:
            other.execute("LOCK TABLE turns IN SHARE MODE")
            _erase(page, "held", None)
            told = page.locator("#erase .complaint")
            # The service tries for seven seconds and more.
            expect(told).to_contain_text("21 of its turns are not removed", timeout=60_000)
