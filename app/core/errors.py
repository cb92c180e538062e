"""Everything that can be wrong with a request, as one tree. Only `api/problems.py` knows HTTP.

TurnkeepError
├── NotJson                  the body is not JSON
├── Unsupported              the body is not declared as what is read here
├── TooLarge                 the body is larger than the service takes
├── NotFound
│   ├── ConversationNotFound
│   └── TurnNotFound
├── Conflict
│   ├── ConversationExists   the id is taken
│   ├── TurnIdTaken          the turn id is stored with other content
│   └── KeyInFlight          a request with this idempotency key is still running
├── StaleVersion             `If-Match` names another version
├── RuleBroken               readable, but against a rule; `pointer` says where
│   ├── LimitExceeded        a published limit
│   ├── UnknownProvider      no wire shape known for this provider
│   ├── UnknownTarget        no such target to render for
│   └── KeyReused            the idempotency key was used for another body
└── Unavailable              the database cannot answer now

An error carries facts, never message content.
"""

from typing import ClassVar

Fact = str | int | list[str] | None


class TurnkeepError(Exception):
    """Something about the request is wrong."""

    code: ClassVar[str] = "error"
    title: ClassVar[str] = "The request could not be carried out"

    def __init__(self, detail: str, **facts: Fact) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts = {name: fact for name, fact in facts.items() if fact is not None}


class NotJson(TurnkeepError):
    code = "not_json"
    title = "The body is not JSON"


class Unsupported(TurnkeepError):
    code = "unsupported_media_type"
    title = "The body is not declared as what is read here"


class TooLarge(TurnkeepError):
    code = "too_large"
    title = "The body is too large"


class NotFound(TurnkeepError):
    code = "not_found"
    title = "There is nothing here"


class ConversationNotFound(NotFound):
    code = "conversation_not_found"
    title = "No such conversation"

    def __init__(self, conversation_id: str) -> None:
        super().__init__(
            f"There is no conversation {conversation_id!r}.", conversation_id=conversation_id
        )


class TurnNotFound(NotFound):
    code = "turn_not_found"
    title = "No such turn"

    def __init__(self, conversation_id: str, turn_id: str) -> None:
        super().__init__(
            f"Conversation {conversation_id!r} has no turn {turn_id!r}.",
            conversation_id=conversation_id,
            turn_id=turn_id,
        )


class Conflict(TurnkeepError):
    code = "conflict"
    title = "The request contradicts what is stored"


class ConversationExists(Conflict):
    code = "conversation_exists"
    title = "The conversation exists already"

    def __init__(self, conversation_id: str) -> None:
        super().__init__(
            f"Conversation {conversation_id!r} exists already.", conversation_id=conversation_id
        )


class TurnIdTaken(Conflict):
    code = "turn_id_taken"
    title = "The turn id is taken"


class KeyInFlight(Conflict):
    code = "idempotency_key_in_flight"
    title = "A request with this idempotency key is still running"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"A request with the idempotency key {key!r} is still running.", retry_after=1
        )


class StaleVersion(TurnkeepError):
    code = "stale_version"
    title = "The conversation has moved on"

    def __init__(
        self, conversation_id: str, expected: str, version: int, *, turn_id: str | None = None
    ) -> None:
        """`turn_id`: the turn is stored all the same, since it cannot be had again."""
        kept = f" The turn is stored as {turn_id!r}." if turn_id is not None else ""
        super().__init__(
            f"If-Match expects version {expected}, the conversation is at version {version}.{kept}",
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
        found = "more" if got is None else str(got)
        super().__init__(
            f"The limit {limit} allows {most}, the request has {found}.",
            pointer=pointer,
            limit=limit,
            most=most,
        )


class UnknownProvider(RuleBroken):
    code = "unknown_provider"
    title = "No wire shape is known for this provider"


class UnknownTarget(RuleBroken):
    code = "unknown_target"
    title = "No such target"

    def __init__(self, target: str, known: list[str], *, pointer: str | None = None) -> None:
        super().__init__(
            f"No history can be rendered for {target!r}. Known: {', '.join(known)}.",
            pointer=pointer,
            known=known,
        )


class KeyReused(RuleBroken):
    code = "idempotency_key_reused"
    title = "The idempotency key was used for another request"

    def __init__(self, key: str) -> None:
        super().__init__(f"The idempotency key {key!r} was used with another body.")


class Unavailable(TurnkeepError):
    code = "unavailable"
    title = "The service cannot answer now"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, retry_after=1)
