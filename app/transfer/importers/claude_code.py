"""Session files of Claude Code: `~/.claude/projects/<project>/<session>.jsonl`.

A line is an event. Those of type `user` and `assistant` hold a message in Anthropic's shape; one
response of the model is spread over several lines with the same `message.id`, a content block each,
with results of tools between them. Lines with `isSidechain` belong to a helper's conversation. All
other lines are the program's own: counted, not stored. docs/import-export.md has the sources.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from ...jsontext.fields import text_in
from ...jsontext.reading import loads_object
from ...jsontext.writing import dumps
from ...model.errors import RuleBroken, TurnkeepError
from ...model.ids import fingerprint
from ...model.json_values import Json, JsonObject
from ...model.limits import Limits
from .detecting import is_plain
from .histories import Found, History, Importer, Line, Message, Reading
from .naming import conversation_name, fit, turn_name

WIRE = "anthropic"
_KINDS = frozenset({"user", "assistant", "system", "summary", "file-history-snapshot", "progress"})
_TITLES = {"ai-title": "aiTitle", "custom-title": "customTitle"}
# Written by the program in the model's name: errors of the service, "no response requested".
_SYNTHETIC = "<synthetic>"
_FLAGS = {"isMeta": "meta", "isCompactSummary": "compact_summary"}


def recognises(first: JsonObject) -> bool:
    kind = first.get("type")
    if not isinstance(kind, str) or is_plain(first):
        return False
    if {"sessionId", "leafUuid", "snapshot"} & first.keys():
        return True
    return kind in _KINDS and isinstance(first.get("message"), dict)


def read(lines: Iterable[Line], how: Reading) -> Found:
    found = Found()
    for part in _apart(list(lines), how.file_name, how.limits):
        session = _Session(how)
        for line in part:
            with session.found.taking(line):
                session.take(line)
        session.found.histories += session.histories()
        found.add(session.found)
    return found


IMPORTER = Importer("claude-code", "Claude Code", recognises, read)


def _apart(lines: Sequence[Line], file_name: str, limits: Limits) -> Iterable[Sequence[Line]]:
    """The lines of each session. A file that is named after one of them is that one's alone: it
    begins with a copy of the session that it goes on."""
    own = re.compile(rf'"sessionId"\s*:\s*"{re.escape(conversation_name(file_name))}"')
    if any(own.search(line.text) for line in lines):
        return [lines]
    parts: dict[str, list[Line]] = {}
    session = ""
    for line in lines:
        # Lines that name no session belong to the one before them.
        session = _session_of(line, limits) or session
        parts.setdefault(session, []).append(line)
    # What stands before the first name is the first one's.
    unnamed = parts.pop("", []) if len(parts) > 1 else []
    first, *others = parts.values() or [[]]
    return [[*unnamed, *first], *others]


def _session_of(line: Line, limits: Limits) -> str | None:
    try:
        return text_in(loads_object(line.text, limits)[0], "sessionId")
    except TurnkeepError:
        return None


class _Session:
    def __init__(self, how: Reading) -> None:
        self.found = Found()
        self._how = how
        # The messages of each conversation by their response, whose lines are one turn.
        self._chains: dict[str, dict[str | int, list[Message]]] = {}
        self._sessions: list[str] = []
        self._titles: dict[str, str] = {}
        self._summaries: dict[str, str] = {}
        self._seen: set[str] = set()
        self._roots: dict[str, str] = {}

    def take(self, line: Line) -> None:
        members, _ = loads_object(line.text, self._how.limits)
        kind = text_in(members, "type")
        if kind is None:
            raise RuleBroken("The line has no type; is this a session of Claude Code?")
        session = text_in(members, "sessionId")
        if session is not None and session not in self._sessions:
            self._sessions.append(session)
        # Lines that are not stored are links of their chain, too.
        chain = self._chain_of(members)
        message = _typed(members) if kind == "attachment" else members.get("message")
        if kind not in ("user", "assistant") and not (kind == "attachment" and message):
            if isinstance(title := members.get(_TITLES.get(kind, "")), str):
                self._titles[kind] = title
            if kind == "summary" and isinstance(summary := members.get("summary"), str):
                self._summaries[str(members.get("leafUuid"))] = summary
            self.found.skipped[f"{kind} lines"] += 1
        elif not isinstance(message, dict):
            raise RuleBroken(f"A line of type {kind} must have a `message`.")
        elif members.get("isApiErrorMessage") is True or message.get("model") == _SYNTHETIC:
            self.found.skipped["answers written by the program"] += 1
        elif self._is_repeated(members, message):
            self.found.skipped["repeated lines"] += 1
        else:
            self._add(line, members, message, chain)

    def _is_repeated(self, members: JsonObject, message: JsonObject) -> bool:
        """A line that is there twice, or the same piece of the same response."""
        uuid, response = members.get("uuid"), message.get("id")
        keys = {f"uuid {uuid}"} if isinstance(uuid, str) else set()
        if isinstance(response, str):
            piece = fingerprint(dumps(message.get("content")))
            keys.add(f"response {response} {piece.hex()}")
        repeated = bool(keys & self._seen)
        self._seen |= keys
        return repeated

    def _add(self, line: Line, members: JsonObject, message: JsonObject, name: str) -> None:
        uuid, response = members.get("uuid"), message.get("id")
        said: JsonObject = {
            name: True for flag, name in _FLAGS.items() if members.get(flag) is True
        }
        if isinstance(when := members.get("timestamp"), str):
            said = {"timestamp": when, **said}
        is_piece = isinstance(response, str) and members.get("type") == "assistant"
        key = str(response) if is_piece else line.number
        before = self._chains.setdefault(name, {}).setdefault(key, [])
        before.append(
            Message(
                {**message, "content": _whole(message.get("content"))},
                line.text.strip(),
                turn_name(uuid, f"line-{line.number}"),
                line.number,
                text_in(message, "model"),
                {"imported": said} if said else {},
                joins=bool(before),
            )
        )

    def _chain_of(self, members: JsonObject) -> str:
        """Empty for the conversation itself; a helper's name, or where its chain began."""
        if members.get("isSidechain") is not True:
            return ""
        agent, uuid, parent = (members.get(key) for key in ("agentId", "uuid", "parentUuid"))
        if isinstance(agent, str):
            return f"agent-{agent}"
        root = self._roots.get(parent if isinstance(parent, str) else "", str(uuid))
        self._roots[str(uuid)] = root
        return f"sidechain-{root}"

    def histories(self) -> Iterator[History]:
        base = self._how.cid or self._session_id()
        # What the user or the program called it; a summary counts if it sums up this file.
        own = [self._summaries[leaf] for leaf in self._summaries if f"uuid {leaf}" in self._seen]
        titles = own + [self._titles[kind] for kind in _TITLES if kind in self._titles]
        about: JsonObject = {"format": "claude-code", "file": self._how.file_name}
        for chain, responses in self._chains.items():
            messages = tuple(message for pieces in responses.values() for message in pieces)
            yield History(
                f"{base}.{fit(chain)}" if chain else base,
                self._how.provider or WIRE,
                WIRE,
                messages,
                line=messages[0].line,
                title=titles[-1] if titles and not chain else None,
                metadata={"imported": about | ({"chain": chain} if chain else {})},
            )

    def _session_id(self) -> str:
        """The session the file is named after; else the first that its lines name."""
        bare = conversation_name(self._how.file_name)
        if bare in self._sessions or not self._sessions:
            return bare
        return fit(self._sessions[0])


def _typed(members: JsonObject) -> JsonObject | None:
    """The prompt of a line that the user typed while the model worked."""
    queued = members.get("attachment")
    if not isinstance(queued, dict) or queued.get("type") != "queued_command":
        return None
    if queued.get("commandMode") not in (None, "prompt") or not queued.get("prompt"):
        return None
    return {"role": "user", "content": queued["prompt"]}


def _whole(content: Json) -> Json:
    """Contents with every part an object: results of tools may hold bare texts."""
    if not isinstance(content, list):
        return content
    return [
        {
            **part,
            "content": [
                {"type": "text", "text": one} if isinstance(one, str) else one for one in inner
            ],
        }
        if isinstance(part, dict) and isinstance(inner := part.get("content"), list)
        else part
        for part in content
    ]
