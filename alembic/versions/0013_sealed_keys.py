"""API keys have a seal, so that a change of one shows. Those that are there are sealed as they are.

One that cannot be read gets none: it is refused already, and stays so.

Revision 0013, after 0012.
"""

from typing import Any

import sqlalchemy as sa
from alembic import context, op

from app.core.access import ApiKey
from app.core.ledger.seals import api_key_seal
from app.storage.damage import sound
from app.storage.types import AnyText, UtcTime

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

# In the order of an `ApiKey`.
COLUMNS: dict[str, Any] = {
    "key_id": sa.Text(),
    "tenant_id": sa.Text(),
    "name": AnyText(),
    "secret_sha256": sa.LargeBinary(),
    "scopes": sa.Text(),
    "prefix": sa.Text(),
    "created_at": UtcTime(),
    "expires_at": UtcTime(),
    "revoked_at": UtcTime(),
    "requests": sa.BigInteger(),
    "body_bytes": sa.BigInteger(),
    "conversations": sa.BigInteger(),
}
KEYS = sa.table("api_keys", *(sa.column(name, kind) for name, kind in COLUMNS.items()))


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("seal", sa.LargeBinary()))
    # SQL that is only printed reads no rows.
    if not context.is_offline_mode():
        fill(op.get_bind())


def downgrade() -> None:
    op.drop_column("api_keys", "seal")


def fill(connection: sa.Connection) -> None:
    """Seals what is stored."""
    update = sa.text("UPDATE api_keys SET seal = :seal WHERE key_id = :id")
    for key_id, tenant_id, name, secret, scopes, *rest in sound(
        connection, sa.select(*(KEYS.c[name] for name in COLUMNS)), {}
    )[0]:
        key = ApiKey(key_id, tenant_id, name, bytes(secret), tuple(scopes.split()), *rest)
        connection.execute(update, {"seal": api_key_seal(key), "id": key_id})
