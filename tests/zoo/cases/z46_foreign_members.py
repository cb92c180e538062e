"""Members that only one provider knows, and required ones that are missing."""

from collections.abc import Sequence

from tests.zoo.expecting import ALL, CHAT, Expect, Seen, variant
from tests.zoo.spoken import (
    answer,
    assistant,
    chat,
    claude,
    function,
    items,
    neutral,
    rounds,
    text,
    tool_result,
    tool_use,
    user,
)

TITLE = "members of one provider reach another"
TARGETS = ALL
SIGNATURE = "U0lHLW9mLWdvb2dsZQ=="


def calls_are_functions(seen: Seen) -> Sequence[str]:
    calls = [one for message in seen.messages for one in message.get("tool_calls", ())]
    return [f"{one} does not say what it is" for one in calls if one.get("type") != "function"]


TYPED = Expect(on=CHAT, also=calls_are_functions)

VARIANTS = [
    variant(
        "a chat message with everything on it",
        chat(
            user("play chess"),
            assistant(
                "e4",
                {
                    "index": 0,
                    "id": "call_1",
                    "function": {"name": "move", "arguments": '{"to": "e4"}', "parsed": {}},
                    "extra_content": {"google": {"thought_signature": SIGNATURE}},
                },
                reasoning_details=[{"type": "reasoning.text", "text": "centre"}],
                refusal=None,
                annotations=[],
                audio=None,
                provider_specific_fields={"x-vendor": 1},
            ),
            answer("call_1", "moved to e4", headers={"x-request": "77"}),
            provider="openrouter",
        ),
        TYPED,
        Expect(
            pairs=[("move", "moved to e4")],
            raw_hides=("annotations", "extra_content", "provider_specific", "x-request", '"index"'),
        ),
        Expect(on=("gemini",), raw_shows=(SIGNATURE,)),
        Expect(on=tuple(one for one in ALL if one != "gemini"), raw_hides=(SIGNATURE,)),
    ),
    variant(
        "anthropic blocks with marks and callers",
        claude(
            ("user", [text("castle") | {"cache_control": {"type": "ephemeral"}, "citations": []}]),
            (
                "assistant",
                [
                    text("O-O") | {"citations": None},
                    tool_use("toolu_1", "move", {"o": 2}) | {"caller": {"type": "direct"}},
                ],
            ),
            ("user", tool_result("toolu_1", "castled", cache_control={"type": "ephemeral"})),
        ),
        Expect(
            pairs=[("move", "castled")],
            order=("castle", "O-O", "castled"),
        ),
        Expect(
            on=tuple(one for one in ALL if one != "anthropic"),
            raw_hides=("cache_control", "caller", "citations"),
        ),
        Expect(on=("anthropic",), raw_shows=("cache_control", "caller", "citations")),
    ),
    variant(
        "responses items with status and annotations",
        [
            neutral(*rounds(1)),
            items(
                "openai-responses",
                {"type": "message", "role": "user", "status": "completed", "content": "resign?"},
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "phase": "final",
                    "content": [
                        {"type": "output_text", "text": "Never.", "annotations": [], "logprobs": []}
                    ],
                },
                {
                    "type": "function_call",
                    "id": "fc_1",
                    "status": "completed",
                    "call_id": "call_2",
                    "name": "move",
                    "arguments": "{}",
                },
                {
                    "type": "function_call_output",
                    "id": "fco_1",
                    "status": "completed",
                    "call_id": "call_2",
                    "output": "checkmate",
                },
            ),
        ],
        TYPED,
        Expect(
            pairs=[("look_up", "entry of <0>"), ("move", "checkmate")],
            # A phase that is none of OpenAI's.
            raw_hides=('"final"',),
            shows=("Never.",),
        ),
        Expect(
            on=tuple(one for one in ALL if one != "openai-responses"),
            raw_hides=("completed", "logprobs", "annotations", "phase"),
        ),
        Expect(on=("openai-responses",), raw_shows=("completed", "logprobs", "annotations")),
    ),
    variant(
        "gemini parts with metadata",
        items(
            "gemini",
            {"role": "user", "parts": [{"text": "again?", "videoMetadata": {"fps": 1}}]},
            {
                "role": "model",
                "parts": [
                    {"text": "Gladly.", "thoughtSignature": SIGNATURE},
                    {"functionCall": {"name": "reset", "args": {}}, "id": "internal-4"},
                ],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "reset", "response": {"result": "reset"}}}],
            },
        ),
        TYPED,
        Expect(pairs=[("reset", "reset")], raw_hides=("videoMetadata", "internal-4")),
        Expect(on=("gemini",), raw_shows=(SIGNATURE,)),
        Expect(on=("openai", "anthropic", "vercel"), raw_hides=(SIGNATURE,)),
    ),
    variant(
        "the old way to call a function",
        chat(
            user("old rules"),
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "dice", "arguments": "{}"},
            },
            {"role": "function", "name": "dice", "content": "a six"},
            assistant("", function("call_9", "dice")),
            answer("call_9", "a one"),
        ),
        TYPED,
        Expect(pairs=[("dice", "a six"), ("dice", "a one")]),
        Expect(
            on=("kimi", "mistral", "anthropic", "deepseek", "qwen"), raw_hides=('function_call":{',)
        ),
        Expect(on=("openai",), raw_shows=('function_call":{',)),
        targets=("openai", "kimi", "mistral", "anthropic", "deepseek", "qwen"),
    ),
]
