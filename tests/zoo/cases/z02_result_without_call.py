"""A result whose call is not in the history: compacted away, filtered, or never recorded."""

from tests.zoo.expecting import ALL, UNKNOWN, Expect, variant
from tests.zoo.spoken import (
    ai,
    answer,
    assistant,
    call,
    chat,
    claude,
    function,
    human,
    neutral,
    result,
    rounds,
    tool,
    tool_result,
    tool_use,
    user,
)

TITLE = "a result has no call"
TARGETS = ALL

VARIANTS = [
    variant(
        "never recorded",
        neutral(
            human("how many ships?"),
            tool(result("call_gone", "nineteen ships at anchor")),
            ai("Nineteen."),
        ),
        Expect(
            reports=("ORPHAN_RESULT x1",),
            never=("SYNTH_RESULT",),
            pairs=[],
            order=("how many ships?", "[turnkeep]", "nineteen ships at anchor", "Nineteen."),
        ),
    ),
    variant(
        "two strangers beside a known one",
        neutral(
            human("tides?"),
            ai(call("tide", "tide", {"port": "Bergen"})),
            tool(
                result("other-1", "fog over the sound"),
                result("tide", "high water at nine"),
                result("other-2", "wind from north"),
            ),
        ),
        Expect(
            reports=("ORPHAN_RESULT x2",),
            pairs=[("tide", "high water at nine")],
            order=("high water at nine", "fog over the sound", "wind from north"),
        ),
    ),
    variant(
        "an open call and a strange result",
        neutral(
            human("radio the pilot"),
            ai(call("radio-A", "radio", {"channel": 16})),
            tool(result("radio-Z", "pilot boards at six")),
            human("well?"),
        ),
        Expect(
            reports=("ORPHAN_RESULT x1", "SYNTH_RESULT x1"),
            pairs=[("radio", UNKNOWN)],
            shows=("pilot boards at six",),
        ),
    ),
    variant(
        "chat shape begins with a result",
        chat(
            answer("call_compacted", "three crates of oranges"),
            assistant("Three crates."),
            user("and lemons?"),
        ),
        Expect(
            reports=("ORPHAN_RESULT x1",),
            pairs=[],
            order=("three crates of oranges", "and lemons?"),
        ),
    ),
    variant(
        "anthropic shape with words beside it",
        claude(
            (
                "user",
                [tool_result("toolu_gone", "mast is sound"), {"type": "text", "text": "go on"}],
            ),
            (
                "assistant",
                [{"type": "text", "text": "Checking sails."}, tool_use("toolu_2", "sails")],
            ),
            ("user", tool_result("toolu_2", "two sails torn")),
        ),
        Expect(
            reports=("ORPHAN_RESULT x1",),
            pairs=[("sails", "two sails torn")],
            order=("mast is sound", "go on", "Checking sails.", "two sails torn"),
        ),
    ),
    variant(
        "a stranger between call and result",
        neutral(
            *rounds(2),
            human("depth?"),
            ai(call("depth-1", "sound_depth")),
            tool(result("depth-0", "echo of an older ping", status="error", name="ping")),
            tool(result("depth-1", "twelve fathoms")),
        ),
        Expect(
            reports=("ORPHAN_RESULT x1",),
            never=("SYNTH_RESULT",),
            pairs=[
                ("look_up", "entry of <0>"),
                ("look_up", "entry of <1>"),
                ("sound_depth", "twelve fathoms"),
            ],
            shows=("echo of an older ping", "ping"),
        ),
    ),
    variant(
        "a result without an id and no call at all",
        chat(user("what was it?"), answer(None, "a buoy, probably"), assistant("A buoy.")),
        Expect(reports=("ORPHAN_RESULT x1",), pairs=[], shows=("a buoy, probably",)),
    ),
    variant(
        "chat shape, one of two calls filtered out",
        chat(
            user("hoist both flags"),
            assistant("", function("call_left", "hoist", '{"flag": "left"}')),
            answer("call_left", "left flag is up"),
            answer("call_right", "right flag is up"),
            provider="qwen-host",
        ),
        Expect(
            reports=("ORPHAN_RESULT x1",),
            pairs=[("hoist", "left flag is up")],
            order=("left flag is up", "right flag is up"),
        ),
    ),
]
