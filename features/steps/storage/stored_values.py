"""Steps about what the tables give back of what was stored in them."""

from dataclasses import fields

from behave import step, then

from backtrail.domain.retention import RetentionRow
from backtrail.domain.timeline import TimelineRow
from backtrail.storage.rows.tables import Base
from support.storage import stored_values


@step("values with {what} are stored in every table")
def _(context, what):
    stored = stored_values.WITH[what]()
    assert {one.table for one in stored} == set(Base.metadata.tables)
    context.stored = {**getattr(context, "stored", {}), what: stored}
    with stored_values.opened(context.world) as (_engine, database), database.write() as uow:
        for one in stored:
            one.write(uow)


@then("values with {what} come back equal in another transaction")
def _(context, what):
    context.looked_at = context.stored[what]
    with stored_values.opened(context.world) as (_engine, database), database.read() as uow:
        for one in context.looked_at:
            found = one.read(uow)
            assert found == one.value, f"{one.table}: {found} instead of {one.value}"


@then("their rows have no column without a value")
def _(context):
    for table, column, value in _columns(context):
        left_out = (table.name, column.name) in stored_values.NOT_OF_VALUES
        assert (value is None) == left_out, f"{table.name}.{column.name}"


@then("their rows have no value in a column that may be without one")
def _(context):
    for table, column, value in _columns(context):
        assert (value is None) == column.nullable, f"{table.name}.{column.name}: {value!r}"


@then("the timeline and retention are told of each checkpoint what it says itself")
def _(context):
    with stored_values.opened(context.world) as (_engine, database), database.read() as uow:
        for stored in context.stored.values():
            (said,) = [one.value for one in stored if one.table == "checkpoint_metadata"]
            (place,) = uow.checkpoints.timeline(said.plan_id)
            (judged,) = uow.pruning.candidates(said.plan_id)
            for short in (place, judged):
                names = {field.name for field in fields(short)} - {"tree"}
                assert all(getattr(short, name) == getattr(said, name) for name in names), short
            assert isinstance(place, TimelineRow)
            assert isinstance(judged, RetentionRow)
            assert judged.tree == said.metadata.get("tree")


def _columns(context):
    with stored_values.opened(context.world) as (engine, _database):
        for one in context.looked_at:
            table = Base.metadata.tables[one.table]
            row = stored_values.raw_row(engine, one)
            for column in table.columns:
                yield table, column, row[column.name]
