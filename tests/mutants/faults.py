"""Faults that the suite must notice, each a small change that would read well in a review.

`old` stands exactly once in its file. `tests` (arguments for pytest) is the part of the suite that
is there to catch it; it is short, so that all can be tried in a few minutes.
"""

from dataclasses import dataclass

LEDGER = ("tests/core/test_ledger.py",)
PAIRING = ("tests/core/test_pairing.py",)
IDENTITY = ("tests/core/test_identity.py",)
PROVIDER_IDS = ("tests/codecs/test_ids.py",)
GOLDEN = ("tests/codecs/test_golden.py::test_what_is_rendered_is_what_was_reviewed",)
BLANK = ("tests/core/test_showing.py::test_a_result_of_blank_parts_is_shown_like_an_empty_result",)
BOOK = ("tests/storage/test_book.py", "-k", "sqlite")
WRITER = ("tests/storage/test_writer.py", "-k", "sqlite")
CALLS = ("tests/storage/test_calls.py", "-k", "sqlite")
APPEND = ("tests/api/test_append.py", "-k", "sqlite")
KEPT = ("tests/laws/test_kept.py", "-k", "not changes_no_byte")
REMEMBERED = ("tests/laws/test_remembered.py",)
FINDING = ("tests/service/test_finding.py", "-k", "sqlite")
STRANGE = ("tests/storage/test_strange_texts.py", "-k", "postgres")
PACKING = ("tests/storage/test_packing.py", "-k", "not postgres")
ISOLATION = ("tests/api/test_isolation.py", "-k", "sqlite")
ACCESS = ("tests/api/test_access.py", "-k", "sqlite")
ERASING = ("tests/api/test_erasing.py", "-k", "not postgres")
DAMAGED_KEYS = ("tests/damage/test_keys.py",)
SETTLING = ("tests/storage/test_failures.py", "-k", "commit or proves or proof or twice")
SYNCED = ("tests/api/test_sync.py", "tests/laws/test_sync.py")
HALF_READ = ("tests/storage/test_failures.py", "-k", "half_way")
CUTS = ("tests/streams/test_line_cuts.py",)
HOSTILE = "tests/api/test_hostile_values.py"
COMES_BACK = f"{HOSTILE}::test_what_is_accepted_comes_back_as_it_was_sent"
RESTORING = ("tests/api/test_restoring.py",)
OPEN_CALLS = ("tests/api/test_finding.py", "-k", "sqlite and open_calls")
EDGE = "tests/e2e/test_edge.py"
WRITER_PROCESS = "tests/e2e/test_writer_process.py"
FOREIGN = ("tests/zoo/test_zoo.py::test_it_is_shown_as_it_should_be", "-k", "z50 or z54")


@dataclass(frozen=True)
class Fault:
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


FAULTS = (
    Fault(
        "a raw id used in many turns means the oldest open one",
        "app/core/ledger/book.py",
        "entry = (-call.seq, -call.call_index if call.answered else call.call_index, call.id)",
        "entry = (call.seq, -call.call_index if call.answered else call.call_index, call.id)",
        LEDGER,
    ),
    Fault(
        "a raw id used twice in one turn means the newest call",
        "app/core/ledger/book.py",
        "-call.call_index if call.answered else call.call_index, call.id)",
        "-call.call_index, call.id)",
        LEDGER,
    ),
    Fault(
        "an id that a replay showed goes before the raw id",
        "app/core/ledger/rules.py",
        '[("raw", raw_id), ("provider_id", raw_id)]',
        '[("provider_id", raw_id), ("raw", raw_id)]',
        LEDGER,
    ),
    Fault(
        "a repeated result is not marked as one",
        "app/core/ledger/append.py",
        "        found.matched_by,\n        found.repeat,\n",
        "        found.matched_by,\n        False,\n",
        LEDGER,
    ),
    Fault(
        "the first real result wins",
        "app/core/conversation.py",
        "return told[-1] if told else None",
        "return told[0] if told else None",
        PAIRING,
    ),
    Fault(
        "results stand in the order of their arrival",
        "app/core/render/pairing.py",
        "        if self._is_out_of_order(step.answers, group, call_ids):\n",
        "        step.answers.sort(key=lambda answer: (answer.turn.seq, answer.place or 0))\n"
        "        if self._is_out_of_order(step.answers, group, call_ids):\n",
        PAIRING,
    ),
    Fault(
        "a result whose call was never recorded is dropped in silence",
        "app/core/render/pairing.py",
        "if isinstance(block, ToolResult) and not is_result:\n",
        "if isinstance(block, ToolResult) and not is_result:\n                continue\n",
        PAIRING,
    ),
    Fault(
        "a call without a result is answered with nothing",
        "app/core/render/results.py",
        "return unrecorded(self.answer, self.showing.profile)",
        'return ""',
        GOLDEN,
    ),
    Fault(
        "another provider's signed thinking is shown",
        "app/core/render/blocks.py",
        "return provider in self.profile.issuers and (not wanted or not model or wanted == model)",
        "return not wanted or not model or wanted == model",
        FOREIGN,
    ),
    Fault(
        "neighbours with the same role stay apart on Gemini",
        "app/codecs/gemini/__init__.py",
        "        alternate=BOTH,\n",
        "",
        GOLDEN,
    ),
    Fault(
        "blanks at the end of the last assistant text are kept",
        "app/core/render/writing.py",
        "trimmed = replace(last, content=replace(last.content, text=last.content.text.rstrip()))",
        "trimmed = last",
        GOLDEN,
    ),
    Fault(
        "members that nobody read are named at the top of a message only",
        "app/core/json/fields.py",
        "yield from inner.unread()",
        "inner.unread()",
        ("tests/codecs/test_nothing_vanishes.py",),
    ),
    Fault(
        "a result whose id stands under a wrong key is matched by position",
        "app/codecs/shared/reading.py",
        "if raw_id or not (names := result.own_unread()):",
        "if raw_id or (names := result.own_unread()):",
        ("tests/api/test_nothing_vanishes.py",),
    ),
    Fault(
        "a window loses the call whose result it begins with",
        "app/core/render/window.py",
        "if max(step.seqs) >= first]",
        "if min(step.seqs) >= first]",
        ("tests/core/test_windows.py",),
    ),
    Fault(
        "a bar inside a field is hashed like the bar between fields",
        "app/core/identity/ids.py",
        r""".replace("|", "\\|")""",
        "",
        IDENTITY,
    ),
    Fault(
        "Kimi's ids restart whenever its host restarts the count",
        "app/codecs/kimi.py",
        """ and int(own["n"]) > highest:""",
        ":",
        PROVIDER_IDS,
    ),
    Fault(
        "Mistral's ids are the first nine characters of longer ones",
        "app/codecs/mistral.py",
        """if call.raw_id and _OWN.fullmatch(call.raw_id):
            yield call.raw_id, None""",
        """if call.raw_id:
            yield call.raw_id[:9], None""",
        PROVIDER_IDS,
    ),
    Fault(
        "different tool names are shown as one",
        "app/core/identity/tool_names.py",
        'mapped = f"{readable}_{digits}"',
        "mapped = readable",
        ("tests/core/test_names.py",),
    ),
    Fault(
        "an address that is no Unicode is shown as it is",
        "app/core/render/media.py",
        r"""[^\s\ud800-\udfff]+""",
        r"""[^\s]+""",
        ("tests/core/test_media.py",),
    ),
    Fault(
        "arguments are encoded anew in the chat shape",
        "app/codecs/chat/messages.py",
        '"arguments": part.arguments}',
        '"arguments": repr(part.value)}',
        GOLDEN,
    ),
    Fault(
        "a failed result is not flagged for Anthropic",
        "app/codecs/anthropic/messages.py",
        '{"is_error": True} if content.failed else {}',
        "{}",
        GOLDEN,
    ),
    Fault(
        "a blank result stays blank for Bedrock",
        "app/codecs/bedrock/__init__.py",
        "        blank_results=False,\n",
        "",
        BLANK,
    ),
    Fault(
        "a book over a database guesses what was not loaded",
        "app/core/ledger/book.py",
        "if (call.seq if call else 0) < self._floors.get(queue, _NOTHING_LOADED):",
        "if queue not in self._floors:",
        BOOK,
    ),
    Fault(
        "the newest calls under a name are taken for all of them",
        "app/storage/loading.py",
        "full = len(seqs[key]) > most",
        "full = False",
        BOOK,
    ),
    Fault(
        "commands of a group do not see each other",
        "app/storage/groups.py",
        "self._slices[cid] = known.after(change)",
        "self._slices[cid] = known",
        WRITER,
    ),
    Fault(
        "a synced list is held against what its group has not saved yet",
        "app/storage/groups.py",
        "if missing.history and cid in self._changes and self._changes[cid].head:",
        "if False:",
        ("tests/service/test_sync.py", "-k", "sqlite"),
    ),
    Fault(
        "a call comes before the one whose place it takes has left",
        "app/storage/saving.py",
        "[row for leaves, row in changed if leaves]",
        "[]",
        CALLS,
    ),
    Fault(
        "calls that got their results stay open",
        "app/storage/saving.py",
        "[row for leaves, row in changed if not leaves]",
        "[]",
        CALLS,
    ),
    Fault(
        "a backslash in an array of PostgreSQL hides the sign behind it",
        "app/storage/driver.py",
        """value.replace("\\\\", "\\\\\\\\").replace('"', '\\\\"')""",
        """value.replace('"', '\\\\"')""",
        STRANGE,
    ),
    Fault(
        "what is missing is the word NULL in an array of PostgreSQL",
        "app/storage/driver.py",
        'return "NULL"',
        """return '"NULL"'""",
        STRANGE,
    ),
    Fault(
        "an idempotency key takes any body",
        "app/service/append.py",
        "if used.body_sha256 != body_hash:",
        "if not used.body_sha256:",
        APPEND,
    ),
    Fault(
        "a turn id that is stored stands for whatever is posted under it",
        "app/service/retries.py",
        "if record is None or record.content_hash != new.content_hash:",
        "if record is None:",
        APPEND,
    ),
    Fault(
        "calls are stored without their canonical ids",
        "app/service/turnform.py",
        "one.replace(_NO_ID_BYTES, block.id.encode(), 1) if",
        "one if",
        ("tests/api/test_replay.py", "-k", "sqlite"),
    ),
    Fault(
        "a link of the chain is never wrong",
        "app/service/turnform.py",
        "return chain_hash(before, record, revision) == record.hash",
        "return True",
        ("tests/api/test_verify.py", "-k", "sqlite"),
    ),
    Fault(
        "a line end that is cut in two is two line ends",
        "app/core/wire/events/lines.py",
        'self._after_return = data[-1:] == b"\\r"',
        "self._after_return = False",
        CUTS,
    ),
    Fault(
        "an empty piece makes the reader forget half a line end",
        "app/core/wire/events/lines.py",
        "        if not data:\n            return lines\n",
        "",
        CUTS,
    ),
    Fault(
        "a mark of UTF-8 that is cut in two is part of the first line",
        "app/core/wire/events/reader.py",
        "head = self._head + data",
        "head = data",
        CUTS,
    ),
    Fault(
        "a character that is cut in two is no character",
        "app/core/wire/events/lines.py",
        "self._line += data[1:] if skipped else data",
        'self._line += str(data[skipped:], "utf-8", "ignore").encode()',
        CUTS,
    ),
    Fault(
        "two first requests at once make the page together",
        "app/main.py",
        "with _DESCRIBING:",
        "if _DESCRIBING:",
        ("tests/api/test_described.py",),
    ),
    Fault(
        "a kept render is not told of late results",
        "app/storage/ledger.py",
        "changed = [version + 1, *self.call_seqs(cid, answered).values()]",
        "changed = [version + 1]",
        KEPT,
    ),
    Fault(
        "a kept render is not told of a result that lost its call",
        "app/storage/ledger.py",
        "orphan = self._run(_FIRST_ORPHAN, cid).scalar()",
        "orphan = None",
        KEPT,
    ),
    Fault(
        "a kept render is taken for that of another conversation of its id",
        "app/service/replay.py",
        "loaded.hashes.get(kept.version) != kept.turn_hash",
        "kept.version not in loaded.hashes",
        KEPT,
    ),
    Fault(
        "a kept render that is newer than the snapshot is used",
        "app/service/replay.py",
        "kept.version < head.version",
        "kept.version <= head.version",
        KEPT,
    ),
    Fault(
        "words of an erased conversation are kept for its successor",
        "app/service/indexing.py",
        "(head.created_at, head.indexed) != (self.created_at, self.done)",
        "head.indexed != self.done",
        FINDING,
    ),
    Fault(
        "a completed turn keeps its old words",
        "app/service/append.py",
        "indexed=min(head.indexed, after.seq - 1)",
        "indexed=head.indexed",
        FINDING,
    ),
    Fault(
        "a tenant that takes no response leaves no room for the others",
        "app/api/context.py",
        "size, room.room // 2)",
        "size, room.room)",
        (EDGE, "-k", "takes_nothing"),
    ),
    Fault(
        "the index takes as much while others use the service",
        "app/api/indexer.py",
        "is_used = now - used_at < _PAUSE",
        "is_used = False",
        FINDING,
    ),
    Fault(
        "the index does not rest while others use the service",
        "app/api/indexer.py",
        "await asyncio.sleep(rest if is_used else 0)",
        "await asyncio.sleep(0)",
        FINDING,
    ),
    Fault(
        "the index falls behind while the service is used",
        "app/api/indexer.py",
        "most = min(2 * most, BATCH) if self._tenants else _FEW",
        "most = _FEW",
        FINDING,
    ),
    Fault(
        "a database that does not answer is taken for a damaged conversation",
        "app/storage/damage.py",
        "if is_psycopgs or isinstance(cause, sqlite3.Error | DBAPIError):",
        "if isinstance(error, DBAPIError):",
        ("tests/storage/test_failures.py", "-k", "damage"),
    ),
    Fault(
        "what is remembered is not compared with the head",
        "app/storage/memory.py",
        "if book is None or head_hash != head.head_hash:",
        "if book is None:",
        REMEMBERED,
    ),
    Fault(
        "the bare form of a raw id is not remembered",
        "app/core/ledger/book.py",
        "            yield ids.normalized(call.raw_id)\n",
        "",
        REMEMBERED,
    ),
    Fault(
        "calls that were forgotten count as never made",
        "app/core/ledger/book.py",
        "names=names, start=start)\n        other.facets",
        "names=names, start=0)\n        other.facets",
        REMEMBERED,
    ),
    Fault(
        "what is loaded takes back a number that was just given out",
        "app/core/ledger/book.py",
        "self._highest[target] = max(highest, self._highest.get(target, -1))\n        given",
        "self._highest[target] = highest\n        given",
        REMEMBERED,
    ),
    Fault(
        "what a stored turn may become is not bounded",
        "app/storage/packing.py",
        "if not 0 <= size <= most:",
        "if size < 0:",
        PACKING,
    ),
    Fault(
        "a piece that looks packed is stored as it is",
        "app/storage/packing.py",
        "len(frame) < len(piece) or piece.startswith(FRAME_HEADER)",
        "len(frame) < len(piece)",
        PACKING,
    ),
    Fault(
        "a call that was just entered is not found by a name that is not stored",
        "app/core/ledger/book.py",
        "            return call\n        if queue[1:2]",
        "            return None\n        if queue[1:2]",
        REMEMBERED,
    ),
    Fault(
        "a key opens the conversations of the default tenant",
        "app/api/context.py",
        "replace(self, database=self.database.of(key.tenant_id), key=key)",
        "replace(self, key=key)",
        ISOLATION,
    ),
    Fault(
        "an id is looked up through all tenants",
        "app/storage/lookup.py",
        ".where(table.c.tenant_id == TENANT, key, ",
        ".where(key, ",
        ISOLATION,
    ),
    Fault(
        "a list shows conversations beyond the prefix of a key",
        "app/api/conversations.py",
        "metadata=metadata, prefix=here.prefix)",
        "metadata=metadata)",
        ACCESS,
    ),
    Fault(
        "a revoked key is let in",
        "app/core/access.py",
        "return self.revoked_at is None and (",
        "return (",
        ACCESS,
    ),
    Fault(
        "a wrong secret is let in",
        "app/api/access.py",
        "or not key.has(named[1]) or",
        "or",
        ACCESS,
    ),
    Fault(
        "what a key sent beyond its limit is forgotten",
        "app/api/access.py",
        "self.left -= amount",
        "self.left = max(0, self.left - amount)",
        ACCESS,
    ),
    Fault(
        "the receipt for an erased conversation counts those beside it",
        "app/storage/sweeping.py",
        "select(func.count()).where(owned(_PARTS[part]))",
        "select(func.count()).where(_PARTS[part].c.tenant_id == TENANT)",
        ERASING,
    ),
    Fault(
        "a conversation whose head is damaged stays for ever",
        "app/storage/groups.py",
        "isinstance(commands[0], Removal) and may_be_damage(error)",
        "isinstance(commands[0], Sweep) and may_be_damage(error)",
        ("tests/damage/test_contained.py", "-k", "conversations-version"),
    ),
    Fault(
        "a key with a limit below nothing is let in",
        "app/core/access.py",
        "limit is None or limit > 0",
        "limit is None or limit",
        DAMAGED_KEYS,
    ),
    Fault(
        "a damaged key is an error of the service",
        "app/storage/apikeys.py",
        "        with UnlessDamaged():\n",
        "        if True:\n",
        DAMAGED_KEYS,
    ),
    Fault(
        "a key that was changed in the database is let in",
        "app/storage/apikeys.py",
        "if row[-1] != api_key_seal(key):",
        "if row[-1] is None:",
        DAMAGED_KEYS,
    ),
    Fault(
        "whoever makes up keys keeps everybody waiting",
        "app/api/access.py",
        "elif key_id not in self._asking and len(self._asking) >= _MOST_ASKED:",
        "elif key_id not in self._asking and len(self._asking) > 100 * _MOST_ASKED:",
        ACCESS,
    ),
    Fault(
        "a service stays open while nobody can say whether there is a key",
        "app/api/access.py",
        "_STALE = 2 * _FRESH",
        "_STALE = 200 * _FRESH",
        ACCESS,
    ),
    Fault(
        "the number of a transaction proves that it was committed",
        "app/storage/transactions.py",
        "                    if known:\n                        told",
        "                    if known is None:\n                        told",
        SETTLING,
    ),
    Fault(
        "a commit of which nothing was heard is repeated without a look",
        "app/storage/transactions.py",
        "            if not commits or self._kind.is_undone(driver):",
        "            if not commits or self._kind.verdict(original(error)):",
        SETTLING,
    ),
    Fault(
        "what was erased since proves that nothing was committed",
        "app/storage/settling.py",
        "        if not change.turns or head is None:",
        "        if head is None:\n            return False\n        if not change.turns:",
        SETTLING,
    ),
    Fault(
        "a head that somebody else wrote proves a commit",
        "app/storage/settling.py",
        "(head.seal if head else None) == seals.get(cid)",
        "(head.seal if head else None) != b''",
        SETTLING,
    ),
    Fault(
        "a text is stored without the blanks around it",
        "app/codecs/shared/reading.py",
        "            yield Text(content)\n",
        "            yield Text(content.strip())\n",
        (COMES_BACK, "-k", "turns"),
    ),
    Fault(
        "a sync leaves out texts that say nothing",
        "app/service/sync.py",
        "is_new = place in new or (is_unspoken(block) and place > last)",
        "is_new = place in new",
        (COMES_BACK, "-k", "sync"),
    ),
    Fault(
        "half a character that ends a stream is replaced",
        "app/codecs/shared/gathering.py",
        'halves.decode("utf-16-le", "surrogatepass")',
        'halves.decode("utf-16-le", "replace")',
        (COMES_BACK, "-k", "stream"),
    ),
    Fault(
        "the description of a tool is trimmed",
        "app/core/tools/definitions.py",
        "    return Tool(name, description, schema, strict is True)",
        "    return Tool(name, description and description.strip(), schema, strict is True)",
        (COMES_BACK, "-k", "tools"),
    ),
    Fault(
        "half a character in a title is replaced",
        "app/storage/types.py",
        'value.encode("utf-8", "surrogatepass")',
        'value.encode("utf-8", "replace")',
        (COMES_BACK, "-k", "created or changed"),
    ),
    Fault(
        "a problem shows the value that has the wrong type",
        "app/core/telling.py",
        "must be {expected}, not {kind(value)}.",
        "must be {expected}, not {value!r}.",
        (f"{HOSTILE}::test_nothing_that_was_said_is_logged_counted_or_told_in_a_problem",),
    ),
    Fault(
        "a key gives its first receipt for any body",
        "app/service/append.py",
        "        if used.body_sha256 != body_hash:\n",
        "        if not used.body_sha256:\n",
        RESTORING,
    ),
    Fault(
        "a call that is made again is not open again",
        "app/core/ledger/book.py",
        "self.open_calls += self.calls[call.id].answered - call.answered",
        "self.open_calls -= call.answered > self.calls[call.id].answered",
        OPEN_CALLS,
    ),
    Fault(
        "rows that have lost their head are taken for nothing",
        "app/storage/groups.py",
        "if known.head is None and self._may_go(cid, commands)",
        "if known.head and self._may_go(cid, commands)",
        ERASING,
    ),
    Fault(
        "a client is slow while the system has its response",
        "app/api/connection.py",
        "            size += int.from_bytes(held, sys.byteorder)\n",
        "            return size\n",
        (f"{EDGE}::test_a_response_of_which_little_is_taken_does_not_end",),
    ),
    Fault(
        "what was stored is answered with 503 while others do not read",
        "app/api/sending.py",
        '"/v1/" if scope["method"] == "GET"',
        '"/v1/" if scope["method"] in ("GET", "POST")',
        (f"{EDGE}::test_large_responses_that_nobody_takes_have_a_bound",),
    ),
    Fault(
        "an error keeps the snapshot of the read that failed",
        "app/storage/snapshots.py",
        "            _let_go(error)\n",
        "",
        HALF_READ,
    ),
    Fault(
        "a query for which nobody waits holds up the end of the service",
        "app/storage/database.py",
        "        self._readers.end(until)\n",
        "        self._readers.end(None)\n",
        ("tests/storage/test_threads.py",),
    ),
    Fault(
        "a tool that comes later is not found by its name",
        "app/service/append.py",
        "facets=turn_facets(turns) - book.facets,",
        "facets=frozenset() if book.facets else turn_facets(turns),",
        REMEMBERED,
    ),
    Fault(
        "a question about keys holds up the end of the service",
        "app/storage/database.py",
        "        self._doorman.end(until)\n",
        "        self._doorman.end(None)\n",
        ("tests/storage/test_threads.py",),
    ),
    Fault(
        "one broken connection leaves the others to those who read next",
        "app/storage/snapshots.py",
        "                self.drop()\n",
        "                pass\n",
        ("tests/storage/test_snapshots.py",),
    ),
    Fault(
        "a synced list may show a picture of a result wherever it likes",
        "app/core/sync/retelling.py",
        "        if not taken or self.reached != self.owing:",
        "        if not self.parts:",
        SYNCED,
    ),
    Fault(
        "an interrupted turn is passed over by a picture of a result",
        "app/core/sync/retelling.py",
        "            self._move(before)\n",
        "",
        SYNCED,
    ),
    Fault(
        "what a replay showed of a call is told again as often as one likes",
        "app/core/sync/recognising.py",
        "                    told.add(shown)\n",
        "",
        SYNCED,
    ),
    Fault(
        "a synced result is its list's own, though a stored call has its canonical id",
        "app/core/sync/recognising.py",
        "                    if link is None or link.call_id != canonical:",
        "                    if link is None:",
        SYNCED,
    ),
    Fault(
        "a synced list is taken from the beginning as soon as it fits there",
        "app/core/sync/recognising.py",
        "        if doubt is None and self._naming.agrees(whole.calls) is not False:",
        "        if differs is None:",
        SYNCED,
    ),
    Fault(
        "a synced list that fits from the beginning is not asked for its ids",
        "app/core/sync/recognising.py",
        "        if doubt is None and self._naming.agrees(whole.calls) is not False:",
        "        if doubt is None:",
        SYNCED,
    ),
    Fault(
        "a cut list is found by how much is known alone, whatever its ids say",
        "app/core/sync/recognising.py",
        "self._naming.agrees(found.calls) is True, _size(found, differs)",
        "False, _size(found, differs)",
        SYNCED,
    ),
    Fault(
        "a list that differs from the beginning is no cut list",
        "app/core/sync/recognising.py",
        "        if best and self._rank(best) > rank:",
        "        if best and self._rank(best) > rank and not differs:",
        SYNCED,
    ),
    Fault(
        "a changed answer is taken for a new one behind a cut list",
        "app/core/sync/recognising.py",
        "        if best and self._rank(best) > rank:",
        "        if best and self._rank(best) >= rank:",
        SYNCED,
    ),
    Fault(
        "what may belong to either of two places is stored at the first",
        "app/core/sync/recognising.py",
        "        if is_clear and not differs:",
        "        if not differs:",
        SYNCED,
    ),
    Fault(
        "what may belong anywhere is stored at the beginning",
        "app/core/sync/recognising.py",
        "is_clear = ways is not None and all(self._rank(way) < rank for way in ways)",
        "is_clear = all(self._rank(way) < rank for way in ways or ())",
        SYNCED,
    ),
    Fault(
        "a list is cut where it brings results to other calls than it names",
        "app/core/sync/recognising.py",
        "            if self._doubt(found, ended=True):",
        "            if False:",
        SYNCED,
    ),
    Fault(
        "a synced call may be another one than the replay showed under its id",
        "app/core/sync/naming.py",
        "return raw_id in self._came_with or self.shown.get(raw_id, stored) == stored",
        "return True",
        SYNCED,
    ),
    Fault(
        "a synced result is brought to a call under the id of another",
        "app/core/sync/naming.py",
        "return not bearers or stored in bearers",
        "return True",
        SYNCED,
    ),
    Fault(
        "who waits for a process that has died waits for ever",
        "app/storage/process.py",
        "        settle([(future, Outcome(error=Unavailable(_PERHAPS))) for future in left])\n",
        "",
        (f"{WRITER_PROCESS}::test_whoever_waits_when_it_dies_hears_that_nobody_knows",),
    ),
    Fault(
        "Ctrl-C ends the process that writes before the service",
        "app/storage/process.py",
        "            signal.signal(one, signal.SIG_IGN)\n",
        "            signal.signal(one, signal.SIG_DFL)\n",
        (f"{WRITER_PROCESS}::test_it_is_stopped_with_its_group_only_when_the_service_is_ready",),
    ),
    Fault(
        "a process that waits for a locked conversation gives no sign of life",
        "app/storage/process.py",
        "                    self._say([])\n",
        "                    pass\n",
        ("tests/storage/test_process.py",),
    ),
    Fault(
        "the process that writes remembers what is gone",
        "app/storage/process.py",
        "                    self.memory.forget(owner)\n",
        "                    pass\n",
        ("tests/storage/test_process.py",),
    ),
    Fault(
        "an error of the process that writes is made anew",
        "app/core/errors.py",
        "        return _as_it_was, (type(self), self.args, self.__dict__)\n",
        "        return type(self), self.args\n",
        ("tests/core/test_errors.py::test_an_error_of_another_process_says_the_same",),
    ),
)
