"""`plan config show` and `check`."""

from backtrail.cli.invocation.session import Session
from backtrail.cli.render.report import Report
from backtrail.cli.views.settings import checked_report, settings_report


def show(session: Session) -> Report:
    """Show what is in force here, and whether plan.toml, a variable or nobody said so."""
    return settings_report(session.configuration())


def check(session: Session) -> Report:
    """Say whether plan.toml can be obeyed; if it cannot, what is wrong with it."""
    return checked_report(session.configuration())
