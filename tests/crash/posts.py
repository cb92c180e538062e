"""Posts that can be recognised in what is stored: each turn holds a mark of its own."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Of each post: a batch must be stored whole or not at all.
TURNS = 3
MARK = re.compile(r"<([\w-]+)/(\d+)>")

Json = dict[str, Any]


@dataclass
class Post:
    """One POST, however often it is sent, and the receipt once one came."""

    cid: str
    key: str
    receipt: Json | None = None

    @property
    def path(self) -> str:
        return f"/v1/conversations/{self.cid}/turns"

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Idempotency-Key": self.key, "Content-Type": "application/json"}

    def body(self) -> bytes:
        """A question, a call, and its result."""
        function = {"name": "read", "arguments": json.dumps({"path": f"<{self.key}/1>"})}
        call = {"id": "call_0", "type": "function", "function": function}
        messages = [
            {"role": "user", "content": f"<{self.key}/0>"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_0", "content": f"<{self.key}/2>"},
        ]
        return json.dumps({"provider": "openai", "messages": messages}).encode()


def mark_of(turn: Json) -> tuple[str, int] | None:
    """The key and the place of the turn in its post."""
    found = MARK.search(json.dumps(turn.get("blocks")))
    return (found[1], int(found[2])) if found else None
