"""Rollout files of the Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.

A line is `{timestamp, type, payload}`. `response_item` payloads are items of OpenAI's Responses;
`session_meta` names the session, `turn_context` the model; events, snapshots and compactions are
the program's own and are counted, not stored. Files from before September 2025 have no envelope:
first `{id, timestamp, instructions}`, then bare items. docs/import-export.md has the sources.
"""

import re
from collections.abc import Iterable, Iterator

from ...jsontext.reading import loads_object
from ...jsontext.writing import dumps
from ...model.errors import RuleBroken
from ...model.forms import PROVIDER
from ...model.json_values import Json, JsonObject
from .detecting import is_plain
from .histories import Found, History, Importer, Line, Message, Reading
from .naming import conversation_name, fit

WIRE = "openai-responses"
_PROVIDER = "openai"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Items that the program keeps for itself.
_OWN = frozenset({"additional_tools", "compaction_trigger", "ghost_snapshot", "other"})


def recognises(first: JsonObject) -> bool:
    """Lines stand in envelopes; older files begin with a bare line about the session."""
    kind = first.get("type")
    if "record_type" in first or (isinstance(kind, str) and isinstance(first.get("payload"), dict)):
        return True
    return kind is None and "timestamp" in first and "id" in first and not is_plain(first)


def read(lines: Iterable[Line], how: Reading) -> Found:
    rollout = _Rollout(how)
    for line in lines:
        with rollout.found.taking(line):
            rollout.take(line)
        if rollout.ended:
            break
    rollout.found.histories += rollout.histories()
    return rollout.found


IMPORTER = Importer("codex", "the Codex CLI", recognises, read)


class _Rollout:
    """The session that a file begins with; `ended`: the file goes on with another one."""

    def __init__(self, how: Reading) -> None:
        self.found = Found()
        self.ended = False
        self._how = how
        self._messages: list[Message] = []
        # Whether an item of the conversation came, which those of a session's head are not.
        self._spoken = False
        self._meta: JsonObject | None = None
        self._model: str | None = None
        self._title: str | None = None

    def take(self, line: Line) -> None:
        members, _ = loads_object(line.text, self._how.limits)
        kind, payload = members.get("type"), members.get("payload")
        if isinstance(kind, str) and isinstance(payload, dict):
            self._enveloped(kind, payload, line, members.get("timestamp"))
        elif "record_type" in members:
            self.found.skipped["state lines"] += 1
        elif isinstance(kind, str):
            self._item(members, line, None)
        elif isinstance(members.get("id"), str) and "timestamp" in members:
            self._session(members, line)
        else:
            raise RuleBroken("The line has neither type nor payload; is this a Codex rollout?")

    def _enveloped(self, kind: str, payload: JsonObject, line: Line, when: Json) -> None:
        match kind:
            case "session_meta":
                self._session(payload, line)
            case "response_item":
                self._item(payload, line, when)
            case "turn_context":
                model = payload.get("model")
                self._model = model if isinstance(model, str) else self._model
                self.found.skipped["turn_context lines"] += 1
            case "event_msg":
                event = payload.get("type")
                if event == "thread_name_updated":
                    name = payload.get("thread_name")
                    self._title = name if isinstance(name, str) else self._title
                self.found.skipped[f"event_msg {event} lines"] += 1
            case _:
                self.found.skipped[f"{kind} lines"] += 1

    def _session(self, meta: JsonObject, line: Line) -> None:
        """The first names the session; forks repeat their parent's after their own."""
        if self._meta is not None:
            if self._spoken and meta.get("id") != self._meta.get("id"):
                self.ended = True
                raise RuleBroken("Another session begins here; each must be a file of its own.")
            self.found.skipped["session_meta lines of another session"] += 1
            return
        self._meta = meta
        given = meta.get("base_instructions", meta.get("instructions"))
        told = given.get("text") if isinstance(given, dict) else given
        if isinstance(told, str) and told:
            said: JsonObject = {"type": "message", "role": "system", "content": told}
            self._add(said, line, None)

    def _item(self, item: JsonObject, line: Line, when: Json) -> None:
        self._spoken = True
        if item.get("type") in _OWN:
            self.found.skipped[f"{item['type']} items"] += 1
        elif item.get("type") == "local_shell_call":
            # Its output is a function_call_output, so it has to be a call that can be answered.
            call: JsonObject = {
                "type": "function_call",
                "call_id": item.get("call_id") or item.get("id"),
                "name": "local_shell",
                "arguments": dumps(item.get("action")),
            }
            self._add(call, line, when)
        else:
            self._add(item, line, when)

    def _add(self, item: JsonObject, line: Line, when: Json) -> None:
        about: JsonObject = {"imported": {"timestamp": when}} if isinstance(when, str) else {}
        name, whole = f"line-{line.number}", line.text.strip()
        self._messages.append(Message(item, whole, name, line.number, self._model, about))

    def histories(self) -> Iterator[History]:
        if not self._messages:
            return
        meta = self._meta or {}
        spoken = meta.get("model_provider")
        named = isinstance(spoken, str) and PROVIDER.fits(spoken)
        about: JsonObject = {"format": "codex", "file": self._how.file_name}
        about |= {key: meta[key] for key in ("cwd", "forked_from_id", "git") if meta.get(key)}
        yield History(
            self._how.cid or self._session_id(meta.get("id")),
            self._how.provider or (str(spoken) if named else _PROVIDER),
            WIRE,
            tuple(self._messages),
            title=self._title,
            metadata={"imported": about},
        )

    def _session_id(self, given: Json) -> str:
        """The id that the file says; else the one in its name; else the name."""
        if isinstance(given, str) and given:
            return fit(given)
        named = _UUID.findall(self._how.file_name)
        return named[-1] if named else conversation_name(self._how.file_name)
