"""`plan db status`, `upgrade` and `path`."""

from backtrail.cli.invocation.session import Session
from backtrail.cli.render.report import Report
from backtrail.cli.views.database import database_report, location_report


def status(session: Session) -> Report:
    """Show where the database is and whether its schema is current."""
    return database_report(session.database().status())


def upgrade(session: Session) -> Report:
    """Bring the schema of the database up to date; other commands do so by themselves."""
    return database_report(session.database().upgrade(), upgraded=True)


def path(session: Session) -> Report:
    """Print where the database is."""
    return location_report(session.database().location())
