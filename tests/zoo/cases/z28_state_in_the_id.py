"""A gateway hid a model's signature in the call's id."""

from collections.abc import Sequence

from tests.zoo.expecting import ALL, Expect, Seen, variant
from tests.zoo.spoken import (
    ai,
    answer,
    assistant,
    call,
    chat,
    function,
    human,
    neutral,
    result,
    rounds,
    tool,
    user,
)

TITLE = "state is smuggled in the id"
TARGETS = ALL
OTHERS = tuple(target for target in ALL if target != "gemini")
SIGNATURE = "U0lHTkFUVVJFLW9mLWEtdGhvdWdodA"
HIDDEN = f"call_9f2c__thought__{SIGNATURE}"
LONG = "EuID" * 1140


def signatures(*wanted: str | None) -> Expect:
    def restored(seen: Seen) -> Sequence[str]:
        parts = [part for content in seen.messages for part in content["parts"]]
        found = [part.get("thought_signature") for part in parts if "function_call" in part]
        return [] if found == list(wanted) else [f"the signatures are {found}"]

    return Expect(on=("gemini",), also=restored)


VARIANTS = [
    variant(
        "whole on call and result",
        chat(
            assistant(None, function(HIDDEN, "measure")),
            answer(HIDDEN, "seven ells"),
            provider="litellm",
        ),
        signatures(SIGNATURE),
        Expect(reports=("STATE_SPLIT_FROM_ID x1",), pairs=[("measure", "seven ells")]),
        Expect(on=OTHERS, raw_hides=(SIGNATURE, "__thought__")),
    ),
    variant(
        "the result carries the short form",
        chat(
            user("measure again"),
            assistant("", function(HIDDEN, "measure")),
            answer("call_9f2c", "eight ells"),
            provider="litellm",
        ),
        signatures(SIGNATURE),
        Expect(
            reports=("STATE_SPLIT_FROM_ID x1", "MATCHED_BY_FALLBACK x1"),
            never=("ORPHAN_RESULT", "SYNTH_RESULT"),
            pairs=[("measure", "eight ells")],
        ),
        Expect(on=OTHERS, raw_hides=(SIGNATURE,)),
    ),
    variant(
        "thousands of characters",
        chat(
            user("measure the hall"),
            assistant(
                "", function(f"call_h__thought__{LONG}", "measure"), function("call_i", "cut")
            ),
            answer("call_i", "cut to length"),
            answer(f"call_h__thought__{LONG}", "twenty ells"),
            provider="litellm",
        ),
        signatures(LONG, None),
        Expect(
            reports=("STATE_SPLIT_FROM_ID x1",),
            pairs=[("measure", "twenty ells"), ("cut", "cut to length")],
        ),
        Expect(on=OTHERS, raw_hides=("EuIDEuID",)),
    ),
    variant(
        "two signatures behind one id",
        chat(
            user("two seams"),
            assistant("", function("call_s__thought__QUFB", "sew", '{"seam": 1}')),
            answer("call_s__thought__QUFB", "first seam sewn"),
            assistant("", function("call_s__thought__QkJC", "sew", '{"seam": 2}')),
            answer("call_s__thought__QkJC", "second seam sewn"),
            provider="litellm",
        ),
        signatures("QUFB", "QkJC"),
        Expect(
            reports=("STATE_SPLIT_FROM_ID x2",),
            pairs=[("sew", "first seam sewn"), ("sew", "second seam sewn")],
        ),
    ),
    variant(
        "neutral, after a healthy history",
        neutral(
            *rounds(1),
            human("hem it"),
            ai(call(HIDDEN, "hem")),
            tool(result(HIDDEN, "hemmed by hand")),
        ),
        Expect(
            reports=("STATE_SPLIT_FROM_ID x1",),
            pairs=[("look_up", "entry of <0>"), ("hem", "hemmed by hand")],
        ),
        signatures("skip_thought_signature_validator", SIGNATURE),
        Expect(on=OTHERS, raw_hides=(SIGNATURE,)),
    ),
]
