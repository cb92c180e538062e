"""Results that are empty, null, false or zero, and failures without a word."""

from tests.zoo.expecting import ALL, CHAT, Expect, variant
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

TITLE = "results are empty or falsy"
TARGETS = ALL
PLACEHOLDING = ("anthropic", "bedrock")

VARIANTS = [
    variant(
        "empty, failed, false, zero",
        neutral(
            human("four checks"),
            ai(*(call(f"k{n}", f"check_{n}") for n in range(4))),
            tool(
                result("k0", ""),
                result("k1", None, status="error", error=""),
                result("k2", False),
                result("k3", 0),
            ),
        ),
        Expect(
            pairs=[("check_0", ""), ("check_1", "failed"), ("check_2", "false"), ("check_3", "0")],
            failed=(False, True, False, False),
            reports=("EMPTY_RESULT_PLACEHOLDER",),
        ),
        Expect(
            on=CHAT,
            results=["", "[Error] (tool failed without message)", "false", "0"],
            reports=("EMPTY_RESULT_PLACEHOLDER x1",),
        ),
        Expect(
            on=("anthropic",),
            results=["(no output)", "(tool failed without message)", "false", "0"],
            reports=("EMPTY_RESULT_PLACEHOLDER x2",),
        ),
    ),
    variant(
        "null and blanks and empty shells",
        neutral(
            *rounds(1),
            human("five more"),
            ai(*(call(f"s{n}", f"shell_{n}") for n in range(5))),
            tool(
                result("s0", None),
                result("s1", " \n "),
                result("s2", []),
                result("s3", {}),
                {"type": "tool_result", "call_id": "s4", "content": []},
            ),
        ),
        Expect(
            failed=(False,) * 6,
            pairs=[("look_up", "entry of <0>"), *((f"shell_{n}", "") for n in range(5))],
        ),
        Expect(on=("openai",), results=["entry of <0>", "", " \n ", "[]", "{}", ""]),
        Expect(on=PLACEHOLDING, reports=("EMPTY_RESULT_PLACEHOLDER x3",)),
    ),
    variant(
        "chat shape, null and false",
        chat(
            user("two switches"),
            assistant("", *(function(f"call_{n}", "switch") for n in range(4))),
            answer("call_0", None),
            answer("call_1", False),
            answer("call_2", 0),
            answer("call_3", "0"),
        ),
        Expect(pairs=[("switch", ""), ("switch", "false"), ("switch", "0"), ("switch", "0")]),
        Expect(on=CHAT, results=["", "false", "0", "0"]),
    ),
    variant(
        "anthropic shape, failures without words",
        claude(
            ("user", "try thrice"),
            ("assistant", [tool_use(f"toolu_{n}", "try") for n in range(3)]),
            (
                "user",
                [
                    tool_result("toolu_0", "", is_error=True),
                    {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True},
                    tool_result("toolu_2", [], is_error=True),
                ],
            ),
        ),
        Expect(
            failed=(True, True, True),
            pairs=[("try", "(tool failed without message)")] * 3,
            reports=("EMPTY_RESULT_PLACEHOLDER x3",),
        ),
    ),
    variant(
        "an error is said once",
        neutral(
            human("break it"),
            ai(call("b1", "break"), call("b2", "break"), call("b3", "break")),
            tool(
                result("b1", "glass is thick", status="error"),
                result("b2", "[Error] hammer is lost", status="error"),
                result("b3", "arm hurts", status="error", error="arm hurts"),
            ),
        ),
        Expect(failed=(True, True, True), never=("EMPTY_RESULT_PLACEHOLDER",)),
        Expect(
            on=CHAT,
            results=["[Error] glass is thick", "[Error] hammer is lost", "[Error] arm hurts"],
        ),
        Expect(
            on=("anthropic",), results=["glass is thick", "[Error] hammer is lost", "arm hurts"]
        ),
    ),
]
