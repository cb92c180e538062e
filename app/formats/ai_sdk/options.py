"""What the AI SDK's messages and parts carry for one provider, under four names.

`providerOptions` in messages to a model, `providerMetadata` and its kin in stored UI messages: an
object for each provider. Google's thought signature is kept with its text or call; whatever else
says something is named in a note.
"""

from ...jsontext.fields import Fields, escaped
from ...model.json_values import JsonObject
from ...model.media import is_base64

OPTIONS = ("providerOptions", "providerMetadata", "callProviderMetadata", "resultProviderMetadata")
# Ids of items, and settings.
_NO_CONTENT = ("itemId", "cacheControl", "cache_control")


def note_options(fields: Fields, signed: str | None = None) -> None:
    """`signed`: the signature that is kept of them."""
    for name in OPTIONS:
        held = fields.members.get(name)
        if not isinstance(held, dict):
            fields.told_if_full(name)
            continue
        options = fields.inner(name)
        for provider, value in held.items():
            if isinstance(value, dict):
                options.passed_over(provider)
                _note(options.below(value, escaped(provider)), provider, signed)
            else:
                options.told_if_full(provider)


def _note(options: Fields, provider: str, signed: str | None) -> None:
    options.passed_over(*_NO_CONTENT)
    options.told_if_full(*options.members)
    if signed and provider == "google" and options.members.get("thoughtSignature") == signed:
        options.passed_over("thoughtSignature")


def thought_signature(part: Fields) -> str | None:
    """Gemini's, of a text or a call."""
    for name in OPTIONS:
        match part.members.get(name):
            case {"google": {"thoughtSignature": str(signature)}} if is_base64(signature):
                return signature
            case _:
                pass
    return None


def signed_options(signature: str | None) -> JsonObject:
    """The member that a text or a call has for a signature."""
    held: JsonObject = {"google": {"thoughtSignature": signature}}
    return {"providerOptions": held} if signature else {}
