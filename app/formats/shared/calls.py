"""The calls of the chat shape, which messages of other wires carry too."""

from collections.abc import Iterator

from ...jsontext.fields import Fields, text_in
from ...model.conversation import ToolCall
from ...model.ids import signature_in
from ...model.media import is_base64
from .reading import arguments_text, sourced, text_or_value


def calls(fields: Fields) -> Iterator[ToolCall]:
    """The calls of an assistant message in the chat shape, and the one of its oldest form."""
    for call in fields.each("tool_calls"):
        # Streams number their calls.
        call.passed_over("index")
        raw_id = call.maybe_text("id")
        if call.get("type") == "custom":
            custom = call.inner("custom")
            name = custom.maybe_text("name") or ""
            made = ToolCall(raw_id, name, arguments_text(custom.get("input")), custom=True)
        else:
            made = _function(call.inner("function"), raw_id, _signature(call))
        yield sourced(made, call)
    if isinstance(fields.members.get("function_call"), dict):
        oldest = fields.inner("function_call")
        yield sourced(_function(oldest, None), oldest)


def _signature(call: Fields) -> str | None:
    """Gemini's thought signature, where gateways put it: beside the call, or into its id."""
    match call.members:
        case {"extra_content": {"google": {"thought_signature": str(signature)}}}:
            call.get("extra_content")
            if is_base64(signature):
                return signature
        case _:
            pass
    return signature_in(text_in(call.members, "id"))


def _function(fields: Fields, raw_id: str | None, signature: str | None = None) -> ToolCall:
    text = text_or_value(fields.get("arguments"))
    return ToolCall(raw_id, fields.maybe_text("name") or "", text, signature=signature)
