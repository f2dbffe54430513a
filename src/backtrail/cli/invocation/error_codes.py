"""Every way to fail, turned into a code, a sentence and a hint: the one place that does so."""

from __future__ import annotations

import errno
import sys
from dataclasses import replace

import typer

from backtrail import __version__
from backtrail.cli.invocation.session import WRAPPERS, Session, command_words
from backtrail.cli.render.report import Failure
from backtrail.domain.errors import BacktrailError, ExitCode, UsageError

# The machine's doing, not ours: no traceback would help, and the sentence says it all.
_NO_ROOM = "free some space and try again; what was begun is then finished or taken back"
_NO_LEAVE = "see whose it is and what its permission bits allow, then try again"
_TOO_MANY = "close some files or raise the limit (ulimit -n), then try again"
_ENVIRONMENT = {
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
    errno.EFBIG: _NO_ROOM,
    errno.EACCES: _NO_LEAVE,
    errno.EPERM: _NO_LEAVE,
    errno.EROFS: "commands that only look work there; others need a place that can be written",
    errno.EMFILE: _TOO_MANY,
    errno.ENFILE: _TOO_MANY,
    errno.EIO: "see what the system's log says of that disk",
}
INTERRUPTED = Failure(ExitCode.INTERRUPTED, "interrupted", "interrupted")
_IF_BEGUN = (
    "if something was begun, the next command that writes finishes it or takes it back; "
    "plan status tells"
)
# What only looks, or has nothing to do with a sandbox: it begins nothing that could be left open.
_LOOKING = frozenset(
    {
        *("config", "db", "demo", "diff", "list", "log", "ops", "path", "runs", "status", "steps"),
        *(f"checkpoint {word}" for word in ("diff", "list", "show")),
        *(f"decision {word}" for word in ("list", "show", "tree")),
    }
)


class Escaped(Exception):
    """Carries an exception past Typer, which would turn it into an exit of its own."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(repr(error))
        self.error = error


def failure_of(error: BaseException, session: Session) -> Failure:
    """What to tell about any exception that ended a command."""
    if isinstance(error, Escaped):
        error = error.error
    if isinstance(error, BacktrailError):
        return Failure(error.exit_code, error.code, error.message, error.hint, error.details)
    if isinstance(error, KeyboardInterrupt):
        return _interrupted(session.command)
    if isinstance(error, typer.TyperException):
        return _usage(error, session)
    if isinstance(error, OSError) and error.errno in _ENVIRONMENT:
        where = f": {error.filename}" if error.filename else ""
        hint = _ENVIRONMENT[error.errno]
        return Failure(ExitCode.FAILED, "failed", f"{error.strerror}{where}", hint)
    return _defect(error, session)


def _interrupted(command: str | None) -> Failure:
    """Ctrl-C; somebody who pressed it in the middle of a change wonders what became of that."""
    return INTERRUPTED if only_looks(command) else replace(INTERRUPTED, hint=_IF_BEGUN)


def only_looks(command: str | None) -> bool:
    """Whether a command changes nothing, whatever becomes of it."""
    return command is None or bool({command, command.partition(" ")[0]} & _LOOKING)


def as_wrapper(failure: Failure, session: Session) -> Failure:
    """A failure of ours beside a command whose own codes mean something else: always 125."""
    if session.command not in WRAPPERS or failure.exit_code == ExitCode.INTERRUPTED:
        return failure
    details = {**failure.details, "exit_code": int(failure.exit_code)}
    return replace(failure, exit_code=ExitCode.NOT_RUN, details=details)


def _usage(error: typer.TyperException, session: Session) -> Failure:
    """An error of Typer's own parser, in the shape of ours."""
    session.assume_format_of_argv()
    context = getattr(error, "ctx", None)
    path: str = getattr(context, "command_path", session.program)
    session.command = command_words(path) or session.command
    if session.command in WRAPPERS:
        session.assume_result_file_of_argv()
    message = error.format_message().rstrip(".").replace(": Value error, ", ": ", 1)
    return Failure(
        ExitCode.USAGE,
        UsageError.code,
        message[:1].lower() + message[1:],
        hint=f"{path} --help shows what can be said here",
    )


def _defect(error: BaseException, session: Session) -> Failure:
    message = f"this is a defect of Backtrail ({type(error).__name__})"
    try:
        log = _write_log(error, session)
    except OSError as problem:
        hint = f"no log could be written: {problem.strerror}"
        return Failure(ExitCode.DEFECT, "defect", message, hint)
    return Failure(
        ExitCode.DEFECT,
        "defect",
        message,
        hint=f"what happened is in {log}; please report it",
        details={"log": log},
    )


def _write_log(error: BaseException, session: Session) -> str:
    """A file that only the user may read: paths are nobody else's business, secrets nobody's."""
    import platform
    import tempfile
    import traceback

    from backtrail.domain.redaction import redacted, redacted_line

    lines = [
        f"backtrail {__version__}, Python {platform.python_version()}, {sys.platform}\n",
        f"{redacted_line(session.command_line)}\n\n",
        *traceback.format_exception(error),
    ]
    with tempfile.NamedTemporaryFile(
        "w",
        prefix="backtrail-",
        suffix=".log",
        encoding="utf-8",
        errors="backslashreplace",
        delete=False,
    ) as log:
        log.write(redacted("".join(lines)))
    return log.name
