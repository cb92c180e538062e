"""What can be judged of an append before its body is read."""

from app.core.errors import StaleVersion
from app.storage.store import ReadStore


def check_version(
    store: ReadStore, cid: str, expected: int, key: str | None, turn_id: str | None
) -> None:
    """Raises `StaleVersion`, unless this may be a retry: a success is told again."""
    head = store.conversation(cid)
    version = head.version if head else 0
    if version == expected:
        return
    if key is not None and store.receipt_of_key(cid, key) is not None:
        return
    if turn_id is not None and store.content_hashes(cid, [turn_id]):
        return
    raise StaleVersion(cid, str(expected), version)
