"""`plan demo`."""

from functools import partial
from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.render.report import Report

Keep = Annotated[
    bool, typer.Option("--keep", help="Keep the repository, and say how to play on with it.")
]


def demo(session: Session, keep: Keep = False) -> Report:
    """See it work: a throw-away repository is wrecked and brought back before your eyes."""
    from backtrail.bootstrap import run_demo
    from backtrail.cli.views.demo import demo_report, tell_step

    with session.progress:
        result = run_demo(
            session.environ,
            keep=keep,
            tell=partial(tell_step, session),
            progress=session.progress.show,
            failpoints=session.failpoints,
        )
    return demo_report(session, result)
