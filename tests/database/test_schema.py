import pytest
from sqlalchemy import Constraint, Index, Table, UniqueConstraint

from app.database.tables import TENANTS_ROWS, metadata

OWNER = ["tenant_id", "conversation_id"]
# What finds conversations cannot begin with one.
FINDING = {"ix_conversations_updated", "ix_conversation_facets_value"}
KEYS: list[Constraint | Index] = [
    key
    for table in TENANTS_ROWS
    for key in (table.primary_key, *table.constraints, *table.indexes)
    if isinstance(key, Index | UniqueConstraint) or key is table.primary_key
]
# Sets of constraints have another order in every process.
KEYS.sort(key=lambda key: str(key.name))


def test_the_tables_are_those_of_the_design() -> None:
    assert metadata.tables.keys() == {
        "conversations",
        "turns",
        "turn_revisions",
        "turn_pieces",
        "tool_calls",
        "tool_results",
        "provider_ids",
        "idempotency_keys",
        "tool_sets",
        "conversation_facets",
        "search_texts",
        "api_keys",
    }


# Where an id is looked up through all conversations, it stands before the conversation.
LOOKED_UP = {
    "ix_tool_calls_raw",
    "ix_tool_results_waiting_raw",
    "ix_turn_revisions_response",
    "ix_turns_response",
    "ix_turns_turn_id",
    "pk_tool_calls",
    "uq_provider_ids_provider_id",
}


# What has expired is looked for in all conversations.
SWEPT = {"ix_conversations_expires", "ix_idempotency_keys_created"}


@pytest.mark.parametrize("key", KEYS, ids=lambda key: str(key.name))
def test_every_key_and_index_begins_with_tenant_and_conversation(key: Index) -> None:
    names = [column.name for column in key.columns]
    assert names[0] == "tenant_id"
    assert (names[:2] == OWNER) != (key.name in FINDING | LOOKED_UP | SWEPT)
    if not str(key.name).startswith("ix_"):
        assert "conversation_id" in names


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_every_constraint_has_a_name_that_postgresql_does_not_cut(table: Table) -> None:
    constraints = [constraint.name for constraint in table.constraints]
    for name in constraints + [index.name for index in table.indexes]:
        assert 0 < len(str(name)) <= 63


@pytest.mark.parametrize("table", TENANTS_ROWS[1:], ids=lambda table: table.name)
def test_every_row_goes_with_its_conversation(table: Table) -> None:
    [foreign] = table.foreign_key_constraints
    assert [column.name for column in foreign.columns] == OWNER
    assert (foreign.referred_table.name, foreign.ondelete) == ("conversations", "CASCADE")
