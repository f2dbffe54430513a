"""`plan demo`."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Annotated

import typer

from backtrail.cli.output.report import Report
from backtrail.cli.session import Session

Keep = Annotated[
    bool, typer.Option("--keep", help="Keep the repository, and say how to play on with it.")
]


def demo(session: Session, keep: Keep = False) -> Report:
    """See it work: a throw-away repository is wrecked and brought back before your eyes."""
    from backtrail.bootstrap import run_demo
    from backtrail.cli.output.demos import demo_report, tell_step

    with session.progress, _every_end_is_an_interrupt():
        result = run_demo(
            session.environ,
            keep=keep,
            tell=partial(tell_step, session),
            progress=session.progress.show,
            failpoints=session.failpoints,
        )
    return demo_report(session, result)


@contextmanager
def _every_end_is_an_interrupt() -> Generator[None]:
    """Let SIGTERM and a closed terminal end it like Ctrl-C, so that nothing is left behind."""
    ends = (signal.SIGTERM, signal.SIGHUP)
    # Under nohup a closed terminal is no end.
    before = {end: signal.getsignal(end) for end in ends if signal.getsignal(end) != signal.SIG_IGN}
    for end in before:
        signal.signal(end, signal.default_int_handler)
    try:
        yield
    finally:
        for end, handler in before.items():
            signal.signal(end, handler)
