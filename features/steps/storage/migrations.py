"""Steps about the database itself: its tables, and how they came to be."""

from behave import given, then

from support.storage import migrations


@given("a database made by the migrations")
def _(context):
    with migrations.migrated(context.world.root / "migrated.db") as engine:
        context.missing = migrations.missing_migrations(engine)
        context.migrated = migrations.described(engine)


@given("a database made from the row classes")
def _(context):
    with migrations.modelled(context.world.root / "modelled.db") as engine:
        context.modelled = migrations.described(engine)


@then("Alembic finds nothing that a further migration would have to do")
def _(context):
    assert len(context.migrated) > 1, context.migrated
    assert not context.missing, context.missing


@then("both have the same tables, each with the same columns, keys, constraints and indexes")
def _(context):
    assert context.migrated.keys() == context.modelled.keys()
    for name, table in context.modelled.items():
        for part, wanted in table.items():
            assert context.migrated[name][part] == wanted, (name, part)
