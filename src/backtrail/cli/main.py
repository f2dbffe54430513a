"""The entry point of `plan` and `backtrail`: runs one command, prints its outcome, exits."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from backtrail.cli.app import program
from backtrail.cli.invocation.emit import emit
from backtrail.cli.invocation.error_codes import INTERRUPTED, as_wrapper, failure_of, only_looks
from backtrail.cli.invocation.session import WRAPPERS, Session
from backtrail.cli.invocation.signals import every_end_is_an_interrupt
from backtrail.cli.parsing import trailing
from backtrail.cli.render import streams
from backtrail.cli.render.report import Failure, Report
from backtrail.domain.errors import ExitCode
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints

PROGRAMS = ("plan", "backtrail")


def main(argv: Sequence[str] | None = None, *, failpoints: Failpoints = NO_FAILPOINTS) -> None:
    """Run the program and exit with its code."""
    streams.prepare()
    name = Path(sys.argv[0]).name
    session = Session(
        program=name if name in PROGRAMS else PROGRAMS[0],
        argv=tuple(sys.argv[1:] if argv is None else argv),
        environ=os.environ,
        failpoints=failpoints,
    )
    with every_end_is_an_interrupt():
        outcome = _outcome(session)
    sys.exit(outcome if isinstance(outcome, int) else _print(session, outcome))


def _outcome(session: Session) -> Report | Failure | int:
    """A report or a failure; a bare code if all was already said, as by `--help`."""
    # Without Typer's standalone mode its exceptions arrive here, and so do the reports.
    try:
        ours, session.trailing = trailing.split(session.argv)
        returned = program()(
            args=ours, prog_name=session.program, standalone_mode=False, obj=session
        )
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - a traceback is for the log
        return as_wrapper(failure_of(error, session), session)
    finally:
        session.progress.stop()
    if isinstance(returned, Report | Failure):
        return returned
    code = returned if isinstance(returned, int) else ExitCode.OK
    return INTERRUPTED if code == ExitCode.INTERRUPTED else code


def _print(session: Session, outcome: Report | Failure) -> int:
    """Print an outcome; the code to exit with, whatever happens to the output."""
    try:
        emit(session, outcome)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; what was done is done, and the exit code still tells it.
        streams.discard_output()
    except OSError as error:
        streams.discard_output()
        where = f" to {session.result_file}" if session.result_file else ""
        streams.talk(f"error: the output cannot be written{where}: {error.strerror}")
        if isinstance(outcome, Report) and not only_looks(session.command):
            streams.talk("hint: what was asked for was done; plan ops tells")
        return _unwritten(session, outcome)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - as above
        failure = failure_of(error, session)
        emit(session, failure)
        return failure.exit_code
    return outcome.exit_code


def _unwritten(session: Session, outcome: Report | Failure) -> int:
    """The code of an outcome that could not be told; beside a command, it is 125."""
    if session.command in WRAPPERS:
        return ExitCode.NOT_RUN
    return outcome.exit_code or ExitCode.FAILED
