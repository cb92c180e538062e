"""What the operator can set, and the only place that reads the environment.

Every setting is a variable `TURNKEEP_<NAME>`; those of `turnkeep serve` are also flags, and a
flag wins over its variable. A value that cannot be meant gives one line that names its variable.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from .model.limits import LONGEST_EXPIRY, Limits

PREFIX = "TURNKEEP_"
LOG_LEVELS = ("critical", "error", "warning", "info", "debug", "trace")

# A flag as the command line hands it over; None when it was not given.
Flag = str | int | bool | None
Value = str | int | bool
_SWITCH = {"true": True, "yes": True, "on": True, "1": True}
_SWITCH |= {"false": False, "no": False, "off": False, "0": False}
# Numbers are at least 1 where nothing else is said.
_LOWEST = {"port": 0, "render_memory": 0, "expires_after": 0}
_HIGHEST = {"port": 65_535, "expires_after": LONGEST_EXPIRY, "keep_keys": LONGEST_EXPIRY}


class SettingsError(ValueError):
    """A setting has a value that cannot be meant; the text is one line for the operator."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that differs between two installations."""

    database_url: str = "sqlite:///turnkeep.db"
    host: str = "127.0.0.1"
    port: int = 8420
    workers: int = 1
    log_level: str = "info"
    # A line for each request; metrics count them in any case.
    access_log: bool = False
    # The pages at /docs and the OpenAPI document; neither shows what is stored.
    docs: bool = True
    # The pages at /, which show what is stored to whoever may read it.
    pages: bool = True
    # Poolers that hand one connection to many clients cannot keep prepared statements.
    pg_prepared_statements: bool = True
    # Connections that write; a conversation always goes to the same one.
    pg_writers: int = 1
    # A service with one worker writes in a process of its own, where there are two processors.
    writer_processes: bool = True
    # Without it no words of what was said are kept beside the turns, and none can be looked for.
    search: bool = True
    # Bytes for renders that are kept, so that a replay writes only what is new; 0 keeps none.
    render_memory: int = 64 * 1024 * 1024
    # Bytes of large bodies and streams that are held at once; further ones are asked to come again.
    body_memory: int = 128 * 1024 * 1024
    # Bytes of large responses that wait to be read; further ones are asked for again.
    response_memory: int = 256 * 1024 * 1024
    # Names that requests may be sent to, with commas; those of loopback are always fine.
    allowed_hosts: str = ""
    # Sites whose pages may ask and write, like https://app.example, with commas.
    cors_origins: str = ""
    # Connections that a worker holds; one more is answered with 503.
    connections: int = 1_000
    # Listeners to conversations that a worker holds; one more is answered with 503.
    listeners: int = 256
    # Seconds for the head of a request, for a body, and for the next bytes of a stream.
    head_seconds: int = 10
    body_seconds: int = 60
    silence_seconds: int = 600
    # Seconds after which a response ends of which the client takes nothing.
    unread_seconds: int = 60
    # Seconds after the last turn until a conversation is erased that was made without saying it; 0:
    # never.
    expires_after: int = 0
    # Seconds for which an idempotency key is known.
    keep_keys: int = 7 * 24 * 60 * 60
    # `/readyz` accepts a database that loses the last commits in a crash or a failover.
    allow_unsafe: bool = False
    limits: Limits = field(default_factory=Limits)

    def flat(self) -> dict[str, Value]:
        """All settings by name; limits as `max_body_bytes` and so on."""
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "limits"}
        limits = {f"max_{one.name}": getattr(self.limits, one.name) for one in fields(self.limits)}
        return plain | limits

    def as_environment(self) -> dict[str, str]:
        """The variables that give these settings again, for the processes that we start."""
        return {PREFIX + name.upper(): _written(value) for name, value in self.flat().items()}


def from_environment(environ: Mapping[str, str] = os.environ, /, **flags: Flag) -> Settings:
    """Settings from the variables in `environ`; a flag that is not None wins over its variable.

    Flags are named like the fields of `Settings`, limits like `max_body_bytes`.
    """
    read = Settings().flat()
    if unknown := flags.keys() - read.keys():
        raise TypeError(f"no such setting: {', '.join(sorted(unknown))}")
    for name, default in read.items():
        flag, variable = flags.get(name), PREFIX + name.upper()
        # An empty variable counts as one that is not set.
        given = environ.get(variable, "").strip() or None if flag is None else _written(flag)
        if given is not None:
            called = variable if flag is None else f"--{name.replace('_', '-')}"
            read[name] = _read(name, given, default, called)
    limits = {one.name: read.pop(f"max_{one.name}") for one in fields(Limits)}
    return Settings(**read, limits=Limits(**limits))  # type: ignore[arg-type]


def _read(name: str, given: str, default: Value, called: str) -> Value:
    """The text as a value of the kind that the default is of."""
    match default:
        case bool():
            if given.lower() in _SWITCH:
                return _SWITCH[given.lower()]
            problem = f"must be true or false, not {given!r}"
        case int():
            problem = _no_number(given, _LOWEST.get(name, 1), _HIGHEST.get(name))
            if not problem:
                return int(given)
        case str() if name == "log_level":
            if given.lower() in LOG_LEVELS:
                return given.lower()
            problem = f"must be one of {', '.join(LOG_LEVELS)}, not {given.lower()!r}"
        case str() if name == "database_url":
            scheme, separator, _ = given.partition("://")
            if separator and scheme.partition("+")[0] in {"sqlite", "postgresql", "postgres"}:
                return given
            # The URL itself is not shown: it may hold a password.
            problem = "must begin with sqlite:/// or postgresql:// (its value is hidden)"
        case _:
            return given
    raise SettingsError(f"{called} {problem}")


def _no_number(given: str, lowest: int, highest: int | None) -> str:
    # int() would also take "1_000" and digits of other scripts.
    if not (given.isascii() and given.isdigit() and len(given) <= 18):
        return f"must be a whole number, not {given!r}"
    if int(given) < lowest:
        return f"must be at least {lowest}, not {int(given)}"
    if highest is not None and int(given) > highest:
        return f"must be at most {highest}, not {int(given)}"
    return ""


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Client:
    """What a command that asks is told by its environment: whom, and whether colours are wanted."""

    url: str | None
    # Here rather than on the command line, which others on the machine can read.
    key: str | None = field(repr=False)
    colour: bool


def client_from_environment() -> Client:
    environ = os.environ
    url, key = (environ.get(PREFIX + name, "").strip() or None for name in ("URL", "API_KEY"))
    # https://no-color.org: any value but an empty one.
    return Client(url, key, colour=not environ.get("NO_COLOR") and environ.get("TERM") != "dumb")
