"""Asking a database, straight through the queries of the service."""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Self

from ..audit import queries as audit
from ..audit.lookup import lookup
from ..conversations import commands as conversations
from ..conversations import queries as finding
from ..database.damage import may_be_damage
from ..database.database import DEFAULT_TENANT, Database
from ..database.store import ReadStore
from ..jsontext.writing import dumps_utf8
from ..model.errors import TurnkeepError
from ..model.json_values import JsonObject
from ..replay.options import ReplayOptions
from ..replay.queries import replay
from ..search.indexing import versions_behind
from ..turns import queries as turns
from ..verify.queries import demand_sound, verify
from .asking import Refused, Told, looked_at
from .databases import opened
from .flags import settings_of
from .json_io import read_json
from .text import complain


class Stored:
    """The conversations of one tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def of(cls, args: argparse.Namespace) -> Self:
        return cls(opened(settings_of(args), args.tenant or DEFAULT_TENANT))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def conversations(self, **wish: Any) -> Told:
        if (wish.get("q") or wish.get("title")) and self._database.searches:
            self._tell_of_index()
        return self._read(lambda store: finding.listed(store, finding.Asked(**wish)))

    def conversation(self, cid: str) -> Told:
        return self._read(lambda store: conversations.read(store, cid), cid)

    def turns(
        self, cid: str, *, order: str = "asc", raw: bool = False, limit: int = 100, **ends: Any
    ) -> Told:
        page = turns.Page(limit=limit, newest_first=order == "desc", **ends)
        return self._read(lambda store: turns.listed(store, cid, page, raw=raw), cid)

    def turn(self, cid: str, turn_id: str) -> Told:
        return self._read(lambda store: turns.one(store, cid, turn_id), cid)

    def tool_calls(self, cid: str, **page: Any) -> Told:
        return self._read(lambda store: audit.tool_calls(store, cid, audit.Page(**page)), cid)

    def lookup(self, *, id: str, **page: Any) -> Told:
        return self._read(lambda store: lookup(store, id, **page))

    def replay(self, cid: str, **options: Any) -> Told:
        asked = ReplayOptions(**options)
        return self._read(lambda store: b"".join(replay(store, cid, asked)), cid)

    def verify(self, cid: str) -> Told:
        return self._read(lambda store: verify(store, cid), cid)

    def versions(self, cid: str, after: int) -> Iterator[int]:
        yield from looked_at(lambda: self.conversation(cid)["version"], after)

    def _read(
        self, query: Callable[[ReadStore], JsonObject | bytes], cid: str | None = None
    ) -> Told:
        try:
            try:
                found = self._database.read_now(query)
            except Exception as error:
                if cid is not None and may_be_damage(error):
                    self._database.read_now(partial(demand_sound, cid=cid))
                raise
        except TurnkeepError as error:
            # An error of the database itself is told in its own words.
            detail = getattr(error, "reason", "") or error.detail
            raise Refused(error.code, detail) from None
        return read_json((found if isinstance(found, bytes) else dumps_utf8(found)).decode())

    def _tell_of_index(self) -> None:
        """A service indexes before it searches. Who only reads writes nothing, and says so."""
        if left := self._database.read_now(versions_behind):
            complain(
                f"the words of {len(left)} conversations are not indexed yet and may be missed; a"
                " running service does that, or `turnkeep reindex`"
            )
