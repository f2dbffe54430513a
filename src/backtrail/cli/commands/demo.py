"""`plan demo`."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.render.report import Report

Keep = Annotated[
    bool, typer.Option("--keep", help="Keep the repository, and say how to play on with it.")
]


def demo(session: Session, keep: Keep = False) -> Report:
    """See it work: a throw-away repository is wrecked and brought back before your eyes."""
    from backtrail.api import Repo
    from backtrail.bootstrap import open_services
    from backtrail.cli.views.demo import demo_report, tell_step
    from backtrail.demo.story import run_demo

    def opened(repository: Path, environ: Mapping[str, str]) -> Repo:
        services = open_services(
            repository,
            environ,
            command_line="plan demo",
            failpoints=session.failpoints,
            progress=session.progress.show,
        )
        return Repo(services)

    with session.progress:
        result = run_demo(
            session.environ,
            opened,
            keep=keep,
            tell=partial(tell_step, session),
            failpoints=session.failpoints,
        )
    return demo_report(session, result)
