"""Prints an outcome as the session wants it: data to standard output, talk to standard error."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.cli.invocation.session import Format
from backtrail.cli.render import streams
from backtrail.cli.render.envelope import envelope
from backtrail.cli.render.look import console
from backtrail.cli.render.report import Failure, Report
from backtrail.cli.render.text import safe, safe_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backtrail.cli.invocation.session import Session


def write_whole(path: Path, content: bytes) -> None:
    """Put the content in the place of what was there, at once."""
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o666 & ~_umask())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


SHOWN_DETAILS = 10


def emit(session: Session, outcome: Report | Failure) -> None:
    """Print an outcome in the session's format."""
    session.messages.extend(outcome.messages)
    apart = session.result_file
    if apart is not None:
        write_whole(apart, _envelope(session, outcome))
    if apart is None and session.format is Format.JSON and not _is_single_value(outcome):
        streams.data_bytes(_envelope(session, outcome))
    elif isinstance(outcome, Failure):
        _talk(session)
        _emit_failure(session, outcome)
    else:
        _talk(session)
        _emit_report(session, outcome)


def _is_single_value(outcome: Report | Failure) -> bool:
    return isinstance(outcome, Report) and outcome.value_only


def _envelope(session: Session, outcome: Report | Failure) -> bytes:
    return envelope(
        outcome,
        command=session.command,
        started=session.started,
        duration_ms=session.duration_ms,
        messages=session.messages,
    ).encode()


def _talk(session: Session) -> None:
    if not session.quiet:
        for message in session.messages:
            streams.talk(f"note: {safe(message)}")


def _emit_failure(session: Session, failure: Failure) -> None:
    lines = [f"error: {safe(failure.message)}", *_detail_lines(failure, verbose=session.verbose)]
    if failure.hint:
        lines.append(f"hint: {safe(failure.hint)}")
    if streams.is_terminal(sys.stderr) and not os.environ.get("NO_COLOR"):
        lines[0] = f"\x1b[1;31merror:\x1b[0m{lines[0].removeprefix('error:')}"
    streams.talk("\n".join(lines))


def _detail_lines(failure: Failure, *, verbose: bool) -> Iterator[str]:
    """Lists, such as candidates or paths, are always worth seeing; the rest is for the curious."""
    for name, value in failure.details.items():
        if isinstance(value, list | tuple):
            items: list[object] = list(value)  # pyright: ignore[reportUnknownArgumentType]
            shown = items if verbose else items[:SHOWN_DETAILS]
            yield from (f"  {safe(item)}" for item in shown)
            if len(shown) < len(items):
                yield f"  … and {len(items) - len(shown)} more (-v shows all)"
        elif verbose:
            yield f"  {safe(name)}: {safe(value)}"


def _emit_report(session: Session, report: Report) -> None:
    if session.quiet and report.silenced_by_quiet:
        return
    if session.format is Format.RICH and report.rich is not None:
        _emit_rich(session, report)
    elif report.raw is not None:
        _emit_raw(report.raw)
    else:
        for line in report.plain():
            streams.data(line)


def _emit_rich(session: Session, report: Report) -> None:
    if report.rich is not None:
        out = console()
        for renderable in report.rich(session.verbose):
            out.print(renderable)


def _emit_raw(text: str) -> None:
    """Byte for byte into a pipe or file; on a terminal, control characters are shown instead."""
    shown = streams.is_terminal(sys.stdout)
    streams.data_bytes(safe_lines(text).encode() if shown else os.fsencode(text))
