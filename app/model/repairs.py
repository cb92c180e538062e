"""Repairs: what a render had to do so that a provider accepts it. The codes are stable."""

from typing import Final

from .json_values import JsonObject
from .value import dataclass

CODES: Final[dict[str, str]] = {
    "SYNTH_RESULT": "a marked text of ours stands where no result, or no wording, was recorded",
    "ORPHAN_RESULT": "a result whose call was never recorded is shown as marked text",
    "RESULTS_MOVED_TO_CALL": "a result recorded elsewhere is shown right after its call",
    "RESULTS_REORDERED": "results are shown in call order, before anything recorded among them",
    "LATE_RESULT_APPLIED": "a result came after later turns of the model, which saw a placeholder",
    "DUP_RESULT_SUPERSEDED": "a call has several results; this one is not the one shown",
    "TOOLUSE_MOVED_LAST": "text recorded after a call is shown before the calls of its turn",
    "ROLES_MERGED": "neighbouring turns of one role are shown as one message",
    "BRIDGE_USER": "a marked user message was added where the wire demands one",
    "BRIDGE_ASSISTANT": "a marked assistant message was added where the wire demands one",
    "ENDS_WITH_ASSISTANT": "the history ends with the assistant; some models refuse it as it is",
    "MARKED_AS_PREFIX": "the last assistant message is marked as a prefix, as the wire demands",
    "TRAILING_TRIMMED": "blanks at the end of the last assistant text are left out",
    "SYSTEM_DEMOTED": "a system turn inside the conversation is shown as marked user text",
    "WINDOW_ALIGNED": "the window was widened so that no call is parted from its results",
    "ID_REMAPPED": "the raw id cannot be used on this wire or is not unique; another one is shown",
    "ID_SYNTHESIZED": "the call came without an id; one was made for it",
    "MATCHED_BY_FALLBACK": "a result was matched to its call by a weaker rule than its id",
    "ARGS_UNPARSEABLE": "arguments that SDKs cannot read as JSON are shown as an empty object",
    "ARGS_UNWRAPPED": "arguments that were encoded twice are shown decoded once",
    "ARGS_COERCED_OBJECT": "arguments that are not an object are shown as one",
    "NAME_SANITIZED": "a tool name this wire refuses is shown under a mapped name",
    "EMPTY_TEXT_OMITTED": "blank text is left out",
    "EMPTY_RESULT_PLACEHOLDER": "an empty result is shown as a marked text",
    "CONTENT_NORMALISED": "a message without any content is left out",
    "THINKING_DROPPED": "reasoning that this provider did not issue is left out",
    "MODEL_CHANGED": "another model speaks from here on; earlier reasoning of others is left out",
    "THINKING_AS_TEXT": "reasoning is shown as marked text",
    "THINKING_UNAVAILABLE": "the open tool round has no thinking of this provider; disable it",
    "SIGNATURE_PLACEHOLDER": "the provider's documented bypass value stands for a signature",
    "STATE_SPLIT_FROM_ID": "a signature carried in the raw id is kept apart from it",
    "RESULT_WRAPPED": "a result that is no object is shown inside one",
    "RESULT_AS_TEXT": "a result with a number larger than any double is shown as text",
    "RESULT_ELIDED": "the middle of a result that is too long for this wire is left out",
    "SUSPECT_MARKUP": "text holds the markup of a tool call; it is shown unchanged, as text",
    "TOOLS_STUBBED": "tools that the history calls are declared by name only",
    "TOOL_DROPPED": "a tool definition cannot be used on this wire and is left out",
    "MEMBERS_DROPPED": "members of a tool definition that this wire does not know are left out",
    "DESCRIPTION_MISSING": "a tool has no description; the model has only its name to go by",
    "REQUIRED_FILTERED": "properties that are optional in truth are no longer required",
    "FORMAT_REMOVED": "formats that this wire does not know are taken out of a tool's schema",
    "SCHEMA_LOOSENED": "a tool's schema accepts more than it did, because the wire refuses it",
    "REFERENCE_OPEN": "a reference leads out of a tool's schema, which providers may refuse",
    "STRICT_DROPPED": "a tool is no longer strict: its schema breaks the wire's rules for that",
    "CHOICE_CHANGED": "the wire cannot say this tool choice; the nearest one is said",
    "PARALLEL_UNSAID": "the wire cannot say whether calls may be parallel",
    "FLATTENED_TO_TEXT": "a call and its result are shown as marked text",
    "IMAGE_RELOCATED": "an image inside a result is shown in a user message after the results",
    "IMAGE_OMITTED": "an image this wire refuses is shown as a marked text",
    "FILE_OMITTED": "a file this wire refuses is shown as a marked text",
    "SERVER_TOOL_DROPPED": "a provider-executed tool is left out: half a pair, or another provider",
    "CUSTOM_TOOL_AS_FUNCTION": "a custom tool is shown as a function with one text, `input`",
    "CALL_WAITS_FOR_OUTPUT": "a call that the caller runs is left out until its output comes",
    "MEMBERS_OMITTED": "members of a posted message that this provider does not take are left out",
    "CACHE_MARKS_STRIPPED": "older marks for a prompt cache are left out; a request takes only few",
    "BLOCK_OMITTED": "a block that only its issuer understands is left out",
    "UNICODE_REPLACED": "characters that are no Unicode text are shown as U+FFFD",
    "TURN_INTERRUPTED": "the stream of this turn broke; it is shown as far as it came",
    "TURN_COMPLETED": "a turn that was interrupted is whole; earlier replays showed less of it",
    "TURN_QUARANTINED": "a stored turn can no longer be read and is left out",
    "EMPTY_HISTORY": "the conversation has no turns yet",
}


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing a render did. `block` is the place of the block in its turn."""

    code: str
    detail: str
    turn_id: str | None = None
    call_id: str | None = None
    block: int | None = None

    def __post_init__(self) -> None:
        assert self.code in CODES, self.code

    def json(self) -> JsonObject:
        shown: JsonObject = {"code": self.code, "turn_id": self.turn_id}
        if self.call_id is not None:
            shown["call_id"] = self.call_id
        if self.block is not None:
            shown["block"] = self.block
        return shown | {"detail": self.detail}
