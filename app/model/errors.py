"""Everything that can be wrong with a request, as one tree. Only `edge/problems.py` knows HTTP.

TurnkeepError
├── Unauthorized             no API key, or not one that holds
├── Forbidden                the API key does not allow this
├── TooMany                  the API key has used up what it may
├── NotJson                  the body is not a JSON object
├── Unsupported              the body is not declared as what is read here
├── TooLarge                 the body is larger than the service takes
├── NotFound
│   ├── ConversationNotFound
│   └── TurnNotFound
├── Conflict
│   ├── ConversationExists   the id is taken
│   ├── TurnIdTaken          the turn id is stored with other content
│   ├── HistoryDiffers       a list of messages contradicts the stored history
│   ├── KeyInFlight          a request with this idempotency key is still running
│   └── Damaged              what is stored was changed behind the service's back
├── StaleVersion             `If-Match` names another version
├── RuleBroken               readable, but against a rule; `pointer` says where
│   ├── LimitExceeded        a published limit
│   ├── ErrorResponse        what a provider answered is an error
│   ├── UnknownProvider      no wire shape known for this provider
│   ├── UnknownTarget        no such target to render for
│   └── KeyReused            the idempotency key was used for another body
└── Unavailable              the database cannot answer now

An error carries facts, never message content.
"""

from collections.abc import Mapping
from math import ceil
from typing import ClassVar, Self

from . import telling
from .forms import CONVERSATION_ID
from .nearest import Nicknames, nearest_provider

_LIMITS = {
    "turns": "turns in one request",
    "blocks": "blocks in one turn",
    "calls": "tool calls and results in one request",
    "synced_messages": "messages in a synced list",
    "synced_calls": "tool calls and results in a synced list",
    "depth": "arrays and objects inside one another",
    "raw_id_bytes": "bytes in the id of a tool call",
    "model_bytes": "bytes in the name of a model",
    "metadata_bytes": "bytes of metadata for all turns of a request",
    "integer_digits": "digits in one number",
    "tools": "tool definitions in one request",
    "schema_nodes": "values in the schemas of all tools together",
}
_KEY_LIMITS = {
    "requests": "requests a minute",
    "body_bytes": "bytes of bodies a minute",
    "conversations": "conversations",
}
# Ids have at most 128 characters, keys 255: what is longer was never one.
_LONGEST = 255
Fact = str | int | list[str] | None


def _as_it_was(
    kind: "type[TurnkeepError]", args: tuple[object, ...], members: Mapping[str, object]
) -> "TurnkeepError":
    error = kind.__new__(kind, *args)
    error.__dict__.update(members)
    return error


class TurnkeepError(Exception):
    """Something about the request is wrong."""

    code: ClassVar[str] = "error"
    title: ClassVar[str] = "The request could not be carried out"

    def __init__(self, detail: str, **facts: Fact) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts = {name: fact for name, fact in facts.items() if fact is not None}

    def __reduce__(self) -> "tuple[object, ...]":
        """As it is in another process: there it is not made by its class, which would compose its
        words anew."""
        return _as_it_was, (type(self), self.args, self.__dict__)


class Unauthorized(TurnkeepError):
    code = "unauthorized"
    title = "An API key is needed"

    @classmethod
    def without_key(cls) -> Self:
        return cls(
            "Send an API key: `Authorization: Bearer tk_…`. `turnkeep keys create` makes one."
        )

    @classmethod
    def with_another(cls) -> Self:
        """The same words for keys that never were, are revoked or have expired."""
        return cls("The API key is not known, was revoked or has expired.")


class Forbidden(TurnkeepError):
    code = "forbidden"
    title = "The API key does not allow this"

    @classmethod
    def without(cls, scope: str) -> Self:
        return cls(f"This needs an API key with the scope `{scope}`.", needed=scope)

    @classmethod
    def outside(cls, prefix: str) -> Self:
        return cls(
            f"This API key may only use conversations whose ids begin with '{prefix}'.",
            prefix=prefix,
        )


class TooMany(TurnkeepError):
    code = "too_many"
    title = "The API key has used up what it may"

    def __init__(self, limit: str, most: int, seconds: float) -> None:
        """`seconds`: until it may be tried again."""
        what = _KEY_LIMITS[limit]
        super().__init__(
            f"This API key allows {most} {what}.", limit=limit, most=most, retry_after=ceil(seconds)
        )


class NotJson(TurnkeepError):
    code = "not_json"
    title = "The body is not a JSON object"


class Unsupported(TurnkeepError):
    code = "unsupported_media_type"
    title = "The body is not declared as what is read here"


class TooLarge(TurnkeepError):
    code = "too_large"
    title = "The body is too large"

    def __init__(self, limit: str, most: int, hint: str = "") -> None:
        what = "JSON values" if limit == "json_values" else "bytes"
        super().__init__(
            f"The body must have at most {most} {what} (the limit {limit}).{hint}",
            limit=limit,
            most=most,
        )


class NotFound(TurnkeepError):
    code = "not_found"
    title = "There is nothing here"


class ConversationNotFound(NotFound):
    code = "conversation_not_found"
    title = "No such conversation"

    def __init__(self, conversation_id: str) -> None:
        if CONVERSATION_ID.fits(conversation_id):
            hint = f"POST /v1/conversations/{conversation_id}/turns creates it."
        else:
            hint = CONVERSATION_ID.complaint(conversation_id)
        super().__init__(
            f"Conversation {_shown(conversation_id)} does not exist. {hint}",
            conversation_id=_fact(conversation_id),
        )


class TurnNotFound(NotFound):
    code = "turn_not_found"
    title = "No such turn"

    def __init__(self, conversation_id: str, turn_id: str) -> None:
        super().__init__(
            f"Conversation {_shown(conversation_id)} has no turn {_shown(turn_id)}."
            f" GET /v1/conversations/{conversation_id}/turns lists its turns.",
            conversation_id=_fact(conversation_id),
            turn_id=_fact(turn_id),
        )


class Conflict(TurnkeepError):
    code = "conflict"
    title = "The request contradicts what is stored"


class ConversationExists(Conflict):
    code = "conversation_exists"
    title = "The conversation exists already"

    def __init__(self, conversation_id: str, version: int) -> None:
        super().__init__(
            f"Conversation {_shown(conversation_id)} exists already, at version {version}. Post"
            " turns to it, change it with PATCH, or choose another `id`.",
            conversation_id=_fact(conversation_id),
            version=version,
        )


class TurnIdTaken(Conflict):
    code = "turn_id_taken"
    title = "The turn id is taken"


class HistoryDiffers(Conflict):
    code = "history_differs"
    title = "The list contradicts the stored history"


class KeyInFlight(Conflict):
    code = "idempotency_key_in_flight"
    title = "A request with this idempotency key is still running"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The first request with the idempotency key {_shown(key)} is still running."
            " Send the same request again in a second.",
            retry_after=1,
        )


class Damaged(Conflict):
    code = "conversation_damaged"
    title = "The conversation is damaged"

    def __init__(self, conversation_id: str) -> None:
        super().__init__(
            f"Conversation {_shown(conversation_id)} cannot be read: what is stored of it was"
            f" damaged. GET /v1/conversations/{conversation_id}/verify says where.",
            conversation_id=_fact(conversation_id),
        )


class StaleVersion(TurnkeepError):
    code = "stale_version"
    title = "The conversation has moved on"

    def __init__(
        self,
        conversation_id: str,
        expected: str,
        version: int,
        *,
        turn_id: str | None = None,
        tag: str | None = None,
    ) -> None:
        """`turn_id`: the turn is stored all the same, since it cannot be had again. `tag`: that of
        the conversation now, where more than the version was expected."""
        self.tag = tag or str(version)
        more = f' Read what is new, then send the request with `If-Match: "{self.tag}"`.'
        if turn_id is not None:
            more = f" The turn is stored as {turn_id!r}."
        what = "version" if tag is None else "the state"
        super().__init__(
            f"`If-Match` names {what} {expected}, the conversation is at {what} {self.tag}.{more}",
            conversation_id=conversation_id,
            version=version,
            turn_id=turn_id,
        )


class RuleBroken(TurnkeepError):
    code = "invalid"
    title = "The request breaks a rule"

    def __init__(self, detail: str, *, pointer: str | None = None, **facts: Fact) -> None:
        super().__init__(detail, pointer=pointer, **facts)
        self.pointer = pointer

    def point_at(self, pointer: str) -> None:
        """For a reader who knows better where the thing stands in the body."""
        self.pointer = self.facts["pointer"] = pointer


class LimitExceeded(RuleBroken):
    code = "limit_exceeded"
    title = "A limit is exceeded"

    def __init__(
        self, limit: str, most: int, got: int | None, *, pointer: str | None = None
    ) -> None:
        found = "the request has more" if got is None else f"the request has {got}"
        super().__init__(
            f"The limit {limit} allows {most} {_LIMITS.get(limit, 'of its kind')}, {found}.",
            pointer=pointer,
            limit=limit,
            most=most,
        )


class ErrorResponse(RuleBroken):
    """Of the provider's own words only the type of its error is told."""

    code = "error_response"
    title = "This is an error response, nothing to store"

    def __init__(self, error_type: str, *, pointer: str | None = None) -> None:
        named = f" ({error_type})" if error_type else ""
        super().__init__(
            f"This is an error response of the provider{named}, nothing to store."
            " A response of the model must be posted here.",
            pointer=pointer,
            error_type=error_type or None,
        )


class UnknownProvider(RuleBroken):
    code = "unknown_provider"
    title = "No wire shape is known for this provider"

    @classmethod
    def without_format(cls, provider: str, known: Nicknames) -> Self:
        """A provider may have any name; its format must be one that is known."""
        meant = telling.did_you_mean(nearest_provider(provider, known))
        return cls(
            f"The provider {telling.quoted(provider)} is not known{meant} If it speaks the shape"
            " of another one, give that one as its `format`, for example openai."
            f" Known: {', '.join(known)}.",
            pointer="/provider",
        )

    @classmethod
    def named(cls, name: str, member: str, known: Nicknames) -> Self:
        return cls(_unknown(name, member, known), pointer=f"/{member}")


class UnknownTarget(RuleBroken):
    code = "unknown_target"
    title = "No such target"

    def __init__(self, target: str, known: Nicknames, *, pointer: str = "?provider") -> None:
        super().__init__(_unknown(target, pointer[1:], known), pointer=pointer, known=list(known))


class KeyReused(RuleBroken):
    code = "idempotency_key_reused"
    title = "The idempotency key was used for another request"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The idempotency key {_shown(key)} was used with another body."
            " A retry sends the same body; a new request needs a new key."
        )


class Unavailable(TurnkeepError):
    code = "unavailable"
    title = "The service cannot answer now"

    def __init__(self, detail: str, *, reason: str = "") -> None:
        """`reason`: for the log, where it says more than the caller is told."""
        super().__init__(detail, retry_after=1)
        self.reason = reason or detail

    @classmethod
    def silent(cls, reason: str) -> Self:
        return cls("The database cannot answer now.", reason=reason)

    @classmethod
    def behind(
        cls, schema: str, current: str | None, head: str | None, todo: str = "turnkeep migrate"
    ) -> Self:
        """`schema`: which one, as the subject of the sentence. `todo`: the command that helps."""
        if current and head and current > head:
            return cls(
                f"{schema} is at {current}, and this release knows {head}: a newer release wrote"
                " it. Install that one"
            )
        has = f"is at {current}" if current else "has no tables yet"
        return cls(f"{schema} {has}, this release needs {head}; run this first: {todo}")


def _unknown(name: str, member: str, known: Nicknames) -> str:
    meant = telling.did_you_mean(nearest_provider(name, known))
    return f"`{member}` must be one of {', '.join(known)}, not {telling.quoted(name)}{meant}"


def _shown(name: str) -> str:
    """Ids and keys come back as they were sent, unless they cannot be ids at all."""
    return f"'{name}'" if _fact(name) else f"of {len(name)} characters"


def _fact(name: str) -> str | None:
    return name if len(name) <= _LONGEST and name.isprintable() else None
