"""`turnkeep import`: histories from files, straight into the database, nothing twice."""

import argparse
import re
import sys
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain

from ..database.database import Database
from ..formats.registry import TARGETS
from ..model.errors import Conflict, RuleBroken, Unavailable
from ..transfer.commands import Counted, store_history
from ..transfer.importers import IMPORTERS
from ..transfer.importers.histories import History, Reading
from ..transfer.importers.naming import NAMES
from ..transfer.planning import Plan, read_history
from .databases import add_tenant, opened
from .flags import add_database, settings_of
from .sources import STDIN, Source, found_in, sources
from .targets import OneOf
from .text import Progress, printable

# Kinds of notes that are shown at the end.
_NOTED = 20
# Histories that are on their way while the next ones are read: they are committed together.
_AHEAD = 64
# Bytes of them from which on the oldest must be stored first.
_HELD = 16 * 1024 * 1024
FORMATS = ("auto", "messages", *TARGETS, *IMPORTERS)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "import",
        description="Stores whole histories: message lists and requests of any provider, OpenAI's"
        " fine-tuning lines, exports of our own, sessions of"
        f" {' and of '.join(one.program for one in IMPORTERS.values())}. The same"
        " command again stores only what is new, also after it was interrupted.",
        epilog="Exit status: 0 all well; 1 with problems, which are named; 2 nothing was begun: a"
        " wrong setting, no such database, an old schema; 130 interrupted.",
    )
    parser.add_argument(
        "file", nargs="+", help="files, folders (.jsonl, .json, also .gz), or - for standard input"
    )
    parser.add_argument(
        "--format",
        default="auto",
        type=OneOf(FORMATS),
        metavar="NAME",
        help=f"one of {', '.join(FORMATS)} (default auto: told from the content)",
    )
    parser.add_argument("--provider", help="who spoke (default: what the file says)")
    parser.add_argument("--model", help="the model, where the file names none")
    parser.add_argument("--conversation", metavar="ID", help="the id, for one history only")
    parser.add_argument(
        "--group-by",
        metavar="FIELD",
        help="the member that names a line's or a message's conversation; a dotted path leads into"
        f" objects (default: the first of {', '.join(NAMES)} that is there)",
    )
    parser.add_argument(
        "--edited",
        action="store_true",
        help="take exports also where they were changed since they were written",
    )
    parser.add_argument("--strict", action="store_true", help="stop at the first problem")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_tenant(parser)
    add_database(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    how = Reading(
        # Nobody waits for others here: `import_bytes` is enough of a bound.
        replace(settings.limits, json_values=sys.maxsize),
        format=args.format,
        wire=args.format if args.format in TARGETS else None,
        provider=args.provider,
        cid=args.conversation,
        group_by=args.group_by,
        edited=args.edited,
    )
    work = _Work(how, args.model, strict=args.strict)
    with opened(settings, args.tenant) as database:
        try:
            return work.all(database, args.file, quiet=args.quiet)
        except KeyboardInterrupt:
            with suppress(_Stop, Unavailable):
                work.settle()
            work.progress.say(
                f"Interrupted after {work.counts.words()}. What was stored stays;"
                " run the same command again to go on."
            )
            return 130


@dataclass(slots=True)
class _Counts:
    conversations: set[str] = field(default_factory=set)
    stored: int = 0
    there: int = 0
    problems: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)

    def words(self) -> str:
        return (
            f"{len(self.conversations)} conversations, {self.stored} turns stored,"
            f" {self.there} already there"
        )


class _Stop(Exception):
    """A problem, and the caller wants to stop at the first."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """A history whose first batch is on its way; `size`: so many bytes of its file, behind those
    `before` the file and those `read` of it."""

    where: str
    plan: Plan
    batches: Iterator[Future[Counted]]
    source: Source
    before: int
    read: int
    size: int


class _Work:
    def __init__(self, how: Reading, model: str | None, *, strict: bool) -> None:
        self.counts = _Counts()
        self.progress = Progress(0)
        self._how = how
        self._model = model
        self._strict = strict
        # Bytes: of the files before this one, and of this one's pieces before the present one.
        self._before = 0
        self._read = 0
        self._given = False
        self._begun: deque[_Begun] = deque()

    def all(self, database: Database, files: list[str], *, quiet: bool) -> int:
        found = list(sources(files))
        total = 0 if STDIN in files else sum(source.size for source in found)
        self.progress = Progress(total, quiet=quiet)
        try:
            for source in found:
                self._file(database, source)
                self._before += source.size
            self.settle()
        except _Stop:
            pass
        except Unavailable:
            # What is committed of the others counts.
            while self._begun:
                with suppress(_Stop, Unavailable):
                    self.settle()
            self._sum_up()
            raise
        self._sum_up()
        return 1 if self.counts.problems else 0

    def _file(self, database: Database, source: Source) -> None:
        self._read = 0
        try:
            for read, found in found_in(source, self._how):
                for problem in found.problems:
                    self._problem(f"{source.label}:{problem.line}", problem.reason)
                self.counts.skipped.update(found.skipped)
                for history in found.histories:
                    self._history(database, source, history, read)
                self._read = read
        except (OSError, EOFError) as error:
            self._problem(source.label, getattr(error, "strerror", None) or str(error))

    def _history(self, database: Database, source: Source, history: History, read: int) -> None:
        where = f"{source.label}:{history.line}"
        if history.conversation_id == self._how.cid:
            if self._given:
                self._problem(where, "--conversation names one history, and this is another")
                return
            self._given = True
        plan = self._plan(source, replace(history, model=history.model or self._model))
        if plan is None:
            return
        self.counts.skipped.update(plan.ignored)
        batches = store_history(database, plan)
        batches = chain([next(batches)], batches)
        size = read - self._read
        self._begun.append(_Begun(where, plan, batches, source, self._before, self._read, size))
        alone = self._strict or len(plan.turns) > self._how.limits.turns
        while self._begun and (
            alone or len(self._begun) > _AHEAD or sum(one.size for one in self._begun) > _HELD
        ):
            self._settle(self._begun.popleft())

    def settle(self) -> None:
        """Waits for all that was begun, the oldest first."""
        while self._begun:
            self._settle(self._begun.popleft())

    def _settle(self, begun: _Begun) -> None:
        done, before = 0, self.counts.stored
        try:
            for batch in begun.batches:
                counted = batch.result()
                self.counts.conversations.add(begun.plan.history.conversation_id)
                self.counts.stored += counted.stored
                self.counts.there += counted.there
                done += counted.stored + counted.there
                # What is read of a packed file is more than its size.
                turns = max(len(begun.plan.turns), 1)
                at = min(begun.read + begun.size * done // turns, begun.source.size)
                self.progress.show(begun.before + at, f"{self.counts.words()}  {begun.source.name}")
        except Conflict as error:
            self._problem(begun.where, error.detail)
        if self.counts.stored > before:
            self.counts.noted.update(_notes(begun.plan))

    def _plan(self, source: Source, history: History) -> Plan | None:
        """The history as turns; of a history over many lines, without the lines that are wrong."""
        while True:
            try:
                return read_history(history, self._how.limits)
            except RuleBroken as error:
                at = error.pointer or ""
                found = re.match(r"/[a-z]+/([0-9]+)", at)
                if not found or history.messages[0].line == history.messages[-1].line:
                    where = f"{source.label}:{history.line}"
                    self._problem(where, f"{error.detail} (at {at})" if at else error.detail)
                    return None
                place = int(found[1])
                self._problem(f"{source.label}:{history.messages[place].line}", error.detail)
                kept = history.messages[:place] + history.messages[place + 1 :]
                if not kept:
                    return None
                history = replace(history, messages=kept)

    def _problem(self, where: str, reason: str) -> None:
        self.counts.problems += 1
        self.progress.say(f"{where}: {reason}")
        if self._strict:
            raise _Stop

    def _sum_up(self) -> None:
        self.progress.clear()
        print(f"{self.counts.words()}.")
        if self.counts.skipped:
            kinds = sorted(self.counts.skipped.items())
            print(printable(f"Not stored: {', '.join(f'{n} {kind}' for kind, n in kinds)}."))
        for words, number in self.counts.noted.most_common(_NOTED):
            self.progress.say(f"Noted {number} times: {words}")
        if (more := len(self.counts.noted) - _NOTED) > 0:
            self.progress.say(f"And {more} other notes.")
        if self.counts.problems:
            some = "1 problem" if self.counts.problems == 1 else f"{self.counts.problems} problems"
            print(f"{some}, named above.", file=sys.stderr)


def _notes(plan: Plan) -> Iterator[str]:
    """What a POST would have noted, alike for all messages of a kind."""
    for turned in plan.turns:
        for note in turned.draft.notes:
            yield f"{note.code}: {re.sub(r'/[0-9]+(?=/)', '/*', note.detail)}"
