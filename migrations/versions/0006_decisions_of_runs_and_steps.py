"""The decision that was current when a run or a step began."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    # SQLite can give a table no further constraint, but a new column can bring one, without a name.
    inline = op.get_bind().dialect.name == "sqlite"
    for table in ("runs", "steps"):
        key = sa.ForeignKey("decisions.decision_id", name=op.f(f"fk_{table}_decision_id"))
        op.add_column(table, sa.Column("decision_id", _id(), key), inline_references=inline)
        op.create_index(f"ix_{table}_decision", table, ["decision_id"])
    # What the checkpoint before a run carries was current when the run began. Of earlier steps
    # nobody wrote it down, but their first run did.
    op.execute(
        "UPDATE runs SET decision_id = (SELECT decision_id FROM checkpoint_metadata"
        " WHERE checkpoint_id = runs.pre_checkpoint_id)"
    )
    op.execute(
        "UPDATE steps SET decision_id = (SELECT runs.decision_id FROM step_marks"
        " JOIN runs ON runs.run_id = step_marks.run_id"
        " WHERE step_marks.step_id = steps.step_id AND step_marks.kind = 'started'"
        " ORDER BY step_marks.position LIMIT 1)"
    )


def downgrade() -> None:
    for table in ("steps", "runs"):
        op.drop_index(f"ix_{table}_decision", table)
        op.drop_column(table, "decision_id")


def _id() -> sa.types.TypeEngine[str]:
    # Ids are ordered by their letters alone, whatever the language of the database.
    return sa.String(26).with_variant(sa.String(26, collation="C"), "postgresql")
