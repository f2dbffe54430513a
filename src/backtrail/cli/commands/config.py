"""`plan config show` and `check`."""

from backtrail.cli.output.report import Report
from backtrail.cli.output.settings import checked_report, settings_report
from backtrail.cli.session import Session


def show(session: Session) -> Report:
    """Show what is in force here, and whether plan.toml, a variable or nobody said so."""
    return settings_report(session.configuration())


def check(session: Session) -> Report:
    """Say whether plan.toml can be obeyed; if it cannot, what is wrong with it."""
    return checked_report(session.configuration())
