"""What a failure class is made of, and the few words in which a variant says what must come of it.

A variant is a history as it was posted. Its expectations hold for one render each; `misses` names
whatever does not hold, in sentences, so that a red test reads like a complaint.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.formats.registry import CODECS
from tests.formats import family
from tests.histories import History, Render
from tests.judges import TARGETS, calls_and_results, texts
from tests.judges.wellformed import leaves, objects
from tests.zoo.spoken import Body

ALL = TARGETS
CHAT = tuple(target for target in ALL if family(target) == "chat")
# Chat wires show each result in a message of its own; Responses likewise, as an item.
EACH = (*CHAT, "openai-responses")
TOGETHER = tuple(target for target in ALL if target not in EACH)
SEEING = tuple(target for target in ALL if CODECS[target].profile.images)
BLIND = tuple(target for target in ALL if target not in SEEING)
# Wires that name calls themselves report every id; others an id that was used before.
NAMING = tuple(target for target in ALL if CODECS[target].profile.assigns_ids)
KEEPING = tuple(target for target in ALL if target not in NAMING)
# The words of our own placeholder for a call without a result.
UNKNOWN = "outcome unknown"


@dataclass(frozen=True)
class Seen:
    """One render of one history, as the judges read it."""

    target: str
    history: History
    render: Render

    @property
    def texts(self) -> list[str]:
        return texts(self.target, self.render.request)

    @property
    def calls(self) -> list[tuple[str, str, object, str | None]]:
        """Id, name, arguments and the words of the result of each call."""
        return [
            (str(call_id), str(name), arguments, None if said is None else _words(said))
            for call_id, name, arguments, said in calls_and_results(
                self.target, self.render.request
            )
        ]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return objects(self.render.request[CODECS[self.target].messages])

    @property
    def roles(self) -> list[str]:
        return [_role(message) for message in self.messages]


def _words(said: object) -> str:
    return said if isinstance(said, str) else "\n".join(leaves(said))


def _role(message: Mapping[str, Any]) -> str:
    """Responses has items instead of messages: outputs are the tool's, all others the model's."""
    otherwise = "tool" if message.get("type") == "function_call_output" else "assistant"
    role = str(message.get("role", otherwise))
    return "assistant" if role == "model" else role


@dataclass(frozen=True, kw_only=True)
class Expect:
    """What one render must be like. What is left out is not asked.

    on          the targets this is about; empty: all of the class
    reports     codes; `"CODE"`: at least once, `"CODE x2"`: exactly twice
    only        exactly these codes and no others
    never       codes that may not be reported
    shows       each stands in some text
    hides       each stands in no text
    order       texts that follow one another
    raw_shows   each stands in the bytes of the request
    raw_hides   each stands nowhere in them
    once        each stands in them once
    pairs       name and words of the result of every call, in call order; a name may be None
    results     the very texts of all results, in call order
    arguments   the arguments of all calls, in call order
    ids         what every call id looks like
    call_ids    the very ids of all calls
    failed      whether each result is shown as failed
    roles       the roles of all messages
    first       the role of the first message that is not the system's
    groups      how many messages hold results
    also        whatever else; gives sentences
    """

    on: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    never: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    raw_shows: tuple[str, ...] = ()
    raw_hides: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    pairs: Sequence[tuple[str | None, str]] | None = None
    results: Sequence[str] | None = None
    arguments: Sequence[object] | None = None
    ids: str | None = None
    call_ids: tuple[str, ...] | None = None
    failed: tuple[bool, ...] | None = None
    roles: tuple[str, ...] | None = None
    first: str | None = None
    groups: int | None = None
    also: Callable[[Seen], Sequence[str]] | None = None

    def misses(self, seen: Seen) -> list[str]:
        """Everything that is not as it should be."""
        return [*self._codes(seen), *self._words(seen), *self._calls(seen), *self._shape(seen)]

    def _codes(self, seen: Seen) -> Iterator[str]:
        counts = Counter(repair.code for repair in seen.render.repairs)
        for wanted in self.reports:
            code, _, times = wanted.partition(" x")
            if counts[code] != int(times) if times else not counts[code]:
                yield f"{wanted} is expected, {code} was reported {counts[code]} times"
        for code in self.never:
            if counts[code]:
                yield f"{code} was reported"
        if self.only is not None and set(counts) != set(self.only):
            yield f"reported were {sorted(counts)}"

    def _words(self, seen: Seen) -> Iterator[str]:
        said = "\n".join(seen.texts)
        yield from (f"{one!r} is not shown" for one in self.shows if one not in said)
        yield from (f"{one!r} is shown" for one in self.hides if one in said)
        raw = seen.render.raw.decode()
        yield from (f"{one!r} is not in the bytes" for one in self.raw_shows if one not in raw)
        yield from (f"{one!r} is in the bytes" for one in self.raw_hides if one in raw)
        yield from (
            f"{one!r} is there {n} times" for one in self.once if (n := raw.count(one)) != 1
        )
        place = 0
        for one in self.order:
            place = said.find(one, place)
            if place < 0:
                yield f"{one!r} does not stand where it should in {seen.texts}"
                return
            place += len(one)

    def _calls(self, seen: Seen) -> Iterator[str]:
        calls = seen.calls
        if self.pairs is not None and not _is_paired(self.pairs, calls):
            yield f"calls and results are {[(name, said) for _, name, _, said in calls]}"
        said = [words for *_, words in calls]
        if self.results is not None and said != list(self.results):
            yield f"results are {said}"
        arguments = [one for _, _, one, _ in calls]
        if self.arguments is not None and _exact(arguments) != _exact(self.arguments):
            yield f"arguments are {arguments}"
        ids = [one for one, *_ in calls]
        if self.ids is not None and not all(re.fullmatch(self.ids, one) for one in ids):
            yield f"ids are {ids}"
        if self.call_ids is not None and ids != list(self.call_ids):
            yield f"ids are {ids}"
        if self.failed is not None and (shown := failures(seen)) != list(self.failed):
            yield f"shown as failed: {shown}"

    def _shape(self, seen: Seen) -> Iterator[str]:
        roles = seen.roles
        if self.roles is not None and roles != list(self.roles):
            yield f"the roles are {roles}"
        spoken = [role for role in roles if role not in ("system", "developer")]
        if self.first is not None and spoken[:1] != [self.first]:
            yield f"the first message is of {spoken[:1]}"
        if self.groups is not None and (found := _messages_with_results(seen)) != self.groups:
            yield f"{found} messages hold results"
        if self.also is not None:
            yield from self.also(seen)


def _is_paired(
    wanted: Sequence[tuple[str | None, str]], calls: Sequence[tuple[str, str, object, str | None]]
) -> bool:
    return len(wanted) == len(calls) and all(
        words is not None and said in words and name in (None, shown)
        for (name, said), (_, shown, _, words) in zip(wanted, calls, strict=True)
    )


def _exact(values: Sequence[object]) -> str:
    # As text, because in Python `1 == True == 1.0`.
    return json.dumps(list(values), sort_keys=True)


def failures(seen: Seen) -> list[bool]:
    """Whether each result, in order, is shown as failed: by the wire's flag, else in its words."""
    flagged = {
        "anthropic": ("is_error", True),
        "vercel-v4": ("isError", True),
        "bedrock": ("status", "error"),
    }
    if seen.target in flagged:
        key, value = flagged[seen.target]
        return [one.get(key) == value for one in _result_parts(seen)]
    if seen.target == "vercel":
        return [str(one["output"]["type"]).startswith("error") for one in _result_parts(seen)]
    if seen.target == "gemini":
        return [
            "error" in one["response"] or "[Error]" in _words(one["response"])
            for one in _result_parts(seen)
        ]
    return [str(words).startswith("[Error] ") for *_, words in seen.calls]


def _result_parts(seen: Seen) -> Iterator[dict[str, Any]]:
    for message in seen.messages:
        for part in objects(message.get("content", message.get("parts"))):
            if part.get("type") in ("tool_result", "tool-result"):
                yield part
            for key in ("toolResult", "function_response"):
                if isinstance(inner := part.get(key), dict):
                    yield inner


def _messages_with_results(seen: Seen) -> int:
    if seen.target in EACH:
        return seen.roles.count("tool")
    keys = ("toolResult", "function_response")
    kinds = ("tool_result", "tool-result")
    return sum(
        any(
            part.get("type") in kinds or any(key in part for key in keys)
            for part in objects(message.get("content", message.get("parts")))
        )
        for message in seen.messages
    )


@dataclass(frozen=True)
class Variant:
    """A history as posted, the options of its render, and what must come of it.

    `arrivals` are other ways in which the same could have been posted: same bytes. `targets` are
    fewer than those of the class, where others have nothing to tell. `huge` ones are not cut into
    windows.
    """

    name: str
    posts: tuple[Body, ...]
    expects: tuple[Expect, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    arrivals: tuple[Body, ...] = ()
    targets: tuple[str, ...] = ()
    huge: bool = False

    def formats(self) -> set[str]:
        """The wires that must be readable for this one to be told."""
        bodies = [json.loads(one) if isinstance(one, str) else one for one in self.posts]
        return {body.get("format", body["provider"]) for body in bodies}


@dataclass(frozen=True)
class Refused:
    """A body that is not taken in, and the pointer that says why not."""

    name: str
    post: Body
    pointer: str


def variant(
    name: str,
    told: Body | Sequence[Body],
    *expects: Expect,
    options: Mapping[str, Any] | None = None,
    arrivals: Sequence[Body] = (),
    targets: tuple[str, ...] = (),
    huge: bool = False,
) -> Variant:
    posts = (told,) if isinstance(told, dict | str) else tuple(told)
    return Variant(name, posts, expects, options or {}, tuple(arrivals), targets, huge)


def alternates(seen: Seen) -> Sequence[str]:
    """No two messages of one role stand side by side."""
    pairs = zip(seen.roles, seen.roles[1:], strict=False)
    twice = [one for one, other in pairs if one == other in ("user", "assistant")]
    return [f"{role} speaks twice in a row" for role in twice]
