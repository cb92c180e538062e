"""Column types that keep what they are given, on both databases."""

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect, LargeBinary, Text
from sqlalchemy.types import TypeDecorator

# Ids are compared byte by byte: the same order on every host, and no index that a new version of
# the operating system's collations would break (https://wiki.postgresql.org/wiki/Collations).
IdText = Text().with_variant(Text(collation="C"), "postgresql")


class AnyText(TypeDecorator[str]):
    """Text that may hold NUL (PostgreSQL refuses it) and lone surrogates (UTF-8 refuses them)."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        return None if value is None else value.encode("utf-8", "surrogatepass")

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        # Somebody else may have written text here; that is for `verify` to find, no reason to fail.
        if value is None or isinstance(value, str):
            return value
        return bytes(value).decode("utf-8", "surrogatepass")


class UtcTime(TypeDecorator[datetime]):
    """A moment with its zone, always UTC. SQLite keeps no zone, so it is put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None or value.tzinfo is not None:
            return value and value.astimezone(UTC)
        return value.replace(tzinfo=UTC)
