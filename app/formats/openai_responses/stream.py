"""Events of the Responses API put together.

The last event holds the whole response, `output_item.done` a whole item; until they come, items
grow by their deltas.
"""

from dataclasses import dataclass, field

from ...model.json_values import Json, JsonObject
from ..shared.gathering import Pieces, an_error, number, text_so_far
from ..shared.responses import Gathering

# Deltas: the list of the item that the piece belongs to, its index there, the kind of the element.
_IN_LISTS = {
    "response.output_text": ("content", "content_index", "output_text", "text"),
    "response.refusal": ("content", "content_index", "refusal", "refusal"),
    "response.reasoning_text": ("content", "content_index", "reasoning_text", "text"),
    "response.reasoning_summary_text": ("summary", "summary_index", "summary_text", "text"),
}
# Deltas that are a piece of one member of the item, and the kind of an item that had no beginning.
_MEMBERS = {
    "response.function_call_arguments": ("arguments", "function_call"),
    "response.custom_tool_call_input": ("input", "custom_tool_call"),
    "response.mcp_call_arguments": ("arguments", "mcp_call"),
    "response.code_interpreter_call_code": ("code", "code_interpreter_call"),
}
_ENDS = ("response.completed", "response.incomplete", "response.failed")


@dataclass
class _Item:
    start: JsonObject
    done: JsonObject | None = None
    members: dict[str, Pieces] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    # By list and index: kind of the element, its text member, and the text.
    elements: dict[tuple[str, int], tuple[str, str, Pieces]] = field(default_factory=dict)

    def json(self) -> JsonObject:
        if self.done is not None:
            return self.done
        shown = dict(self.start)
        # Only a whole item has the state that goes back to its issuer.
        shown.pop("encrypted_content", None)
        shown |= {key: pieces.text() for key, pieces in self.members.items()}
        if shown.get("type") == "custom_tool_call":
            shown["input"] = text_so_far(str(shown.get("input") or ""), "input" in self.ended)
        for key in ("content", "summary"):
            found = [one for (place, _), one in sorted(self.elements.items()) if place == key]
            if found:
                shown[key] = [
                    {"type": kind, member: pieces.text()} for kind, member, pieces in found
                ]
        return shown


class ResponsesGathering(Gathering):
    def __init__(self) -> None:
        super().__init__()
        self._items: dict[int, _Item] = {}
        self._places: dict[str, int] = {}
        self._last = -1

    def take(self, event: JsonObject) -> bool:
        kind = event.get("type")
        if not isinstance(kind, str):
            return False
        if kind == "error":
            self._top["error"] = an_error(event.get("error", event))
            return True
        if not kind.startswith("response."):
            return kind == "keepalive"
        response = event.get("response")
        if kind == "response.created":
            name = response.get("id") if isinstance(response, dict) else None
            if not self._goes_on(name, opens=True, said=bool(self._items)):
                return True
        self.begun = True
        if isinstance(response, dict):
            self._top = self._top | response
        if kind in _ENDS:
            self.whole = kind != "response.failed"
            return True
        match event:
            case {"type": "response.output_item.added", "item": dict(item)}:
                self._begin(self._place(event, item), item)
            case {"type": "response.output_item.done", "item": dict(item)}:
                self._item(event, item).done = item
            case _:
                self._piece(kind, event)
        return True

    def _place(self, event: JsonObject, item: JsonObject | None) -> int:
        """Where an item stands: by its index, else by its id; a new one behind the others."""
        index = number(event.get("output_index"))
        if index is not None:
            return index
        self._odd["an event came without the index of its item"] += 1
        named = item.get("id") if item else event.get("item_id")
        if isinstance(named, str) and named in self._places:
            return self._places[named]
        return self._last if item is None and self._items else self._last + 1

    def _begin(self, place: int, item: JsonObject) -> None:
        self._items[place] = _Item(item)
        self._last = max(self._last, place)
        if isinstance(named := item.get("id"), str):
            self._places[named] = place

    def _item(self, event: JsonObject, beginning: JsonObject) -> _Item:
        place = self._place(event, beginning if "id" in beginning else None)
        if place not in self._items:
            self._begin(place, beginning)
        return self._items[place]

    def _piece(self, kind: str, event: JsonObject) -> None:
        name, _, what = kind.rpartition(".")
        if what not in ("delta", "done"):
            return
        if name in _MEMBERS:
            member, item_kind = _MEMBERS[name]
            item = self._item(event, {"type": item_kind})
            if what == "done" and isinstance(text := event.get(member), str):
                item.members[member] = Pieces(text)
                item.ended.add(member)
            elif what == "delta":
                item.members.setdefault(member, Pieces()).add(event.get("delta"))
        elif name in _IN_LISTS:
            holder, index_name, element, member = _IN_LISTS[name]
            item = self._item(event, _begun(element))
            key = (holder, number(event.get(index_name)) or 0)
            if what == "done" and isinstance(text := event.get(member), str):
                item.elements[key] = (element, member, Pieces(text))
            elif what == "delta":
                begun = item.elements.setdefault(key, (element, member, Pieces()))
                begun[2].add(event.get("delta"))

    def response(self) -> JsonObject:
        output = self._top.get("output")
        if self.whole and isinstance(output, list) and output:
            return self._top
        items: list[Json] = [self._items[place].json() for place in sorted(self._items)]
        return self._top | {"output": items}


def is_response(response: JsonObject) -> bool:
    """Whether this has the shape of a `Response`."""
    return response.get("object") == "response" or isinstance(response.get("output"), list)


def _begun(element: str) -> JsonObject:
    """The item that holds such an element, where its own beginning did not come."""
    if element in ("reasoning_text", "summary_text"):
        return {"type": "reasoning", "summary": []}
    return {"type": "message", "role": "assistant", "content": []}
