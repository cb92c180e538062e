"""Renders that are kept in memory, so that only what is new of a conversation is written.

A kept render is looked at only together with the head that was just read: it says whether the
render is current, and the rows behind its version say what has changed since. So several processes
need not talk to each other, and with an empty memory the same bytes come out.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime

from .options import ReplayOptions
from .rendering import Hashes
from .segments import Render

# What they hold beside their bytes: measured, and rounded up.
_SEGMENT, _MESSAGE, _OTHER = 1500, 96, 600


@dataclass(frozen=True, slots=True)
class Key:
    """`has_tools`: the request has definitions, so none are made up from the calls. `is_model`: the
    newest model of the target's provider is kept, and no render."""

    tenant_id: str
    conversation_id: str
    options: ReplayOptions
    has_tools: bool = False
    is_model: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """A render as of a version. `turn_hash`: that of its last turn, which covers all before it.
    `created_at`: when the conversation was made; another one of its id was made later. `model`: the
    newest one as of then, where no render is kept."""

    created_at: datetime
    version: int
    head_hash: bytes
    turn_hash: bytes = b""
    render: Render = field(default_factory=Render)
    hashes: Hashes = field(default_factory=lambda: Hashes(b""))
    model: str | None = None

    @property
    def size(self) -> int:
        """The bytes it holds in memory, about."""
        held = sum(
            len(one.text)
            + _SEGMENT
            + _MESSAGE * len(one.sizes)
            + _OTHER * (len(one.repairs) + len(one.system))
            + sum(map(len, one.told))
            for one in self.render.segments
        )
        uses = self.render.uses
        return held + _OTHER * (1 + len(uses.raw_ids) + len(uses.native_ids) + len(uses.tools))


@dataclass(slots=True)
class Renders:
    """The least recently used is the first to go. Without room (`limit` 0) nothing is kept."""

    limit: int = 0
    size: int = 0
    _kept: "OrderedDict[Key, tuple[Kept, int]]" = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Key) -> Kept | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Key, kept: Kept) -> None:
        size = kept.size if self.limit else 0
        with self._lock:
            self._remove(key)
            if size > self.limit or not self.limit:
                return
            self._kept[key] = (kept, size)
            self.size += size
            while self.size > self.limit:
                self._remove(next(iter(self._kept)))

    def held(self) -> set[tuple[str, str, datetime]]:
        """Of which conversations something is kept: tenant, id, and when it was made."""
        with self._lock:
            return {
                (key.tenant_id, key.conversation_id, kept.created_at)
                for key, (kept, _) in self._kept.items()
            }

    def forget(self, tenant_id: str, conversation_id: str) -> None:
        """Nothing of a conversation is kept any more."""
        whose = (tenant_id, conversation_id)
        with self._lock:
            for key in list(self._kept):
                if (key.tenant_id, key.conversation_id) == whose:
                    self._remove(key)

    def _remove(self, key: Key) -> None:
        _, size = self._kept.pop(key, (None, 0))
        self.size -= size
