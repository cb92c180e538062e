"""What the operator can set, and the only place that reads the environment.

Every setting is a variable `TURNKEEP_<NAME>`; those of `turnkeep serve` are also flags, and a
flag wins over its variable. A value that cannot be meant gives one line that names its variable.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from app.core.limits import Limits

PREFIX = "TURNKEEP_"
LOG_LEVELS = ("critical", "error", "warning", "info", "debug", "trace")

# A flag as the command line hands it over; None when it was not given.
Flag = str | int | bool | None
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


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
    # Poolers that hand one connection to many clients cannot keep prepared statements.
    pg_prepared_statements: bool = True
    # Connections that write; a conversation always goes to the same one.
    pg_writers: int = 2
    # Without it no words of what was said are kept beside the turns, and none can be looked for.
    search: bool = True
    # Bytes for renders that are kept, so that a replay writes only what is new; 0 keeps none.
    render_memory: int = 64 * 1024 * 1024
    limits: Limits = field(default_factory=Limits)

    def as_environment(self) -> dict[str, str]:
        """The variables that give these settings again, for the processes that we start."""
        flat = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "limits"}
        flat |= {f"max_{f.name}": getattr(self.limits, f.name) for f in fields(self.limits)}
        return {PREFIX + name.upper(): _written(value) for name, value in flat.items()}


def from_environment(environ: Mapping[str, str] = os.environ, /, **flags: Flag) -> Settings:
    """Settings from the variables in `environ`; a flag that is not None wins over its variable.

    Flags are named like the fields of `Settings`, limits like `max_body_bytes`.
    """
    unknown = flags.keys() - _names()
    if unknown:
        raise TypeError(f"no such setting: {', '.join(sorted(unknown))}")
    source = _Source(environ, flags)
    base = Settings()
    return Settings(
        database_url=source.database_url(base.database_url),
        host=source.text("host", base.host),
        port=source.number("port", base.port, lowest=0, highest=65_535),
        workers=source.number("workers", base.workers),
        log_level=source.choice("log_level", base.log_level, LOG_LEVELS),
        access_log=source.switch("access_log", base.access_log),
        pg_prepared_statements=source.switch("pg_prepared_statements", base.pg_prepared_statements),
        pg_writers=source.number("pg_writers", base.pg_writers),
        search=source.switch("search", base.search),
        render_memory=source.number("render_memory", base.render_memory, lowest=0),
        limits=Limits(
            **{
                limit.name: source.number(f"max_{limit.name}", getattr(base.limits, limit.name))
                for limit in fields(Limits)
            }
        ),
    )


class _Source:
    """The raw values of settings, flags before variables, and how each kind is read."""

    def __init__(self, environ: Mapping[str, str], flags: Mapping[str, Flag]) -> None:
        self._environ = environ
        self._flags = flags

    def text(self, name: str, default: str) -> str:
        value = self._raw(name)
        return default if value is None else value

    def number(self, name: str, default: int, lowest: int = 1, highest: int | None = None) -> int:
        value = self._raw(name)
        if value is None:
            return default
        # int() would also take "1_000" and digits of other scripts.
        if not (value.isascii() and value.isdigit() and len(value) <= 18):
            raise self._error(name, f"must be a whole number, not {value!r}")
        number = int(value)
        if number < lowest:
            raise self._error(name, f"must be at least {lowest}, not {number}")
        if highest is not None and number > highest:
            raise self._error(name, f"must be at most {highest}, not {number}")
        return number

    def switch(self, name: str, default: bool) -> bool:
        value = self._raw(name)
        if value is None:
            return default
        word = value.lower()
        if word not in _TRUE | _FALSE:
            raise self._error(name, f"must be true or false, not {value!r}")
        return word in _TRUE

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        value = self.text(name, default).lower()
        if value not in allowed:
            raise self._error(name, f"must be one of {', '.join(allowed)}, not {value!r}")
        return value

    def database_url(self, default: str) -> str:
        url = self.text("database_url", default)
        scheme, separator, _ = url.partition("://")
        # The URL itself is not shown: it may hold a password.
        if not separator or scheme.partition("+")[0] not in {"sqlite", "postgresql", "postgres"}:
            raise self._error(
                "database_url", "must begin with sqlite:/// or postgresql:// (its value is hidden)"
            )
        return url

    def _raw(self, name: str) -> str | None:
        """The flag or variable as text; an empty variable counts as one that is not set."""
        flag = self._flags.get(name)
        if flag is not None:
            return _written(flag)
        return self._environ.get(PREFIX + name.upper(), "").strip() or None

    def _error(self, name: str, problem: str) -> SettingsError:
        by_flag = self._flags.get(name) is not None
        called = f"--{name.replace('_', '-')}" if by_flag else PREFIX + name.upper()
        return SettingsError(f"{called} {problem}")


def _written(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _names() -> set[str]:
    return {f.name for f in fields(Settings) if f.name != "limits"} | {
        f"max_{limit.name}" for limit in fields(Limits)
    }
