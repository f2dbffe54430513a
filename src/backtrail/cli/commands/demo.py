"""`plan demo`."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from backtrail.cli.invocation.emit import emit
from backtrail.cli.invocation.session import Format, Session
from backtrail.cli.render import streams
from backtrail.cli.render.report import Report
from backtrail.domain.errors import FailedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backtrail.demo.values import DemoStep

Keep = Annotated[
    bool, typer.Option("--keep", help="Keep the repository, and say how to play on with it.")
]


def demo(session: Session, keep: Keep = False) -> Report:
    """See it work: a throw-away repository is wrecked and brought back before your eyes."""
    from backtrail.api import Repo
    from backtrail.bootstrap import open_services
    from backtrail.cli.views.demo import demo_report
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
            tell=partial(_print, session),
            failpoints=session.failpoints,
        )
    return demo_report(result, session.environ, quiet=session.quiet)


def _print(session: Session, step: DemoStep) -> None:
    """Print a step at once; programs get all of them in the end."""
    from backtrail.cli.views.demo import step_report

    if session.format is Format.JSON:
        return
    session.progress.stop()
    try:
        emit(session, step_report(step, verbose=session.verbose))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; the exit code still tells how it ended.
        streams.discard_output()
    except OSError as error:
        streams.discard_output()
        raise FailedError(
            f"the output cannot be written: {error.strerror}",
            hint="look at where standard output goes to",
        ) from error
