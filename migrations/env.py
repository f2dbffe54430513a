"""Runs the revisions on the connection that Backtrail hands over, inside its transaction."""

from alembic import context

from backtrail.storage.rows.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # Alembic thinks that SQLite cannot roll back DDL; it can, once BEGIN is said explicitly.
    transactional_ddl=True,
)

with context.begin_transaction():
    context.run_migrations()
