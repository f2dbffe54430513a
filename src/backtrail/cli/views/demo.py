"""The demonstration: each step printed as it happens, and what to take home from it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.cli.render.look import file_line, line, panel, shortened, table, text
from backtrail.cli.render.report import Report
from backtrail.cli.render.shape import COUNT, ORDINAL, TEXT, Kind, itself, listed, shape, words
from backtrail.cli.render.text import count, safe
from backtrail.demo.values import StepName
from backtrail.domain.rollback import DiffAction, RevertAction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from backtrail.demo.values import Check, DemoResult, DemoStep


_STEP = shape(
    name=words(StepName),
    title=TEXT,
    command=TEXT,
    outcome=listed(TEXT),
    duration_ms=COUNT,
    files=listed(shape(file=TEXT, action=words([*RevertAction, *DiffAction]))),
    damage=listed(shape(kind=TEXT, command=TEXT, became=TEXT)),
    check=shape(expected=TEXT, paths=ORDINAL, size_bytes=COUNT) | None,
)
DEMO = shape(
    demo=shape(
        steps=replace(listed(_STEP), schema={"type": "array", "minItems": 1}),
        # It is printed only if every look found what was expected.
        verified=Kind(schema={"const": True}).at(lambda _: True),
        kept=(TEXT | None).at(lambda result: result.place if result.kept else None),
        sandbox=(TEXT | None).at(lambda result: result.sandbox if result.kept else None),
        duration_ms=COUNT,
    ).at(itself)
)
NUMBERS = {name: number for number, name in enumerate(StepName, 1)}
COLUMNS = ("damage", "what the agent did", "after the rollback")
LESSONS = (
    "A checkpoint holds files, .env included, permission bits, links, index, HEAD and branch.",
    "Every rollback first saves what is there: undo and redo lose nothing.",
    "What else git ignores is left alone, and your own checkout is never used.",
)
# These would lead commands away from a repository that was kept.
MISLEADING = ("GIT_DIR", "PLAN_DATABASE_URL", "PLAN_HOME", "PLAN_ID")


def step_report(step: DemoStep, *, verbose: bool) -> Report:
    return Report(
        data={},
        plain=lambda: _plain_step(step, verbose=verbose),
        rich=lambda verbose: _rich_step(step, verbose=verbose),
        silenced_by_quiet=True,
    )


def demo_report(result: DemoResult, environ: Mapping[str, str], *, quiet: bool) -> Report:
    """What is left to say after the steps; with `-q` the last line alone."""
    return Report(
        data=DEMO.of(result),
        plain=lambda: [_last_line(result)] if quiet else _plain_end(result),
        rich=None if quiet else lambda _: _rich_end(result),
        messages=_misled(environ) if result.kept else (),
    )


def _misled(environ: Mapping[str, str]) -> tuple[str, ...]:
    found = [name for name in MISLEADING if environ.get(name)]
    if not found:
        return ()
    return (f"{', '.join(found)} had no say here; unset it before you play on",)


def _plain_step(step: DemoStep, *, verbose: bool) -> Iterator[str]:
    yield f"{NUMBERS[step.name]}. {step.title}"
    yield f"   $ {safe(step.command)}"
    yield from (f"   {safe(sentence)}" for sentence in step.outcome)
    if verbose:
        yield from (f"   {f.action:<12} {safe(f.file)}" for f in step.files)
    for damage in step.damage:
        yield f"   {damage.kind:<10}  {damage.command:<40}  {damage.became}"
    if step.check:
        yield f"   ok: {_checked(step.check)}"
    yield ""


def _checked(check: Check) -> str:
    looked = f"{count(check.paths, 'path')} walked byte for byte, plain git asked"
    return f"{looked}: exactly {check.expected}"


def _rich_step(step: DemoStep, *, verbose: bool) -> Iterator[RenderableType]:
    from rich.padding import Padding

    yield line((f"{NUMBERS[step.name]}  ", "bold cyan"), (step.title, "bold"))
    body: list[RenderableType] = [line(("$ ", "dim"), (step.command, "cyan"))]
    body.extend(text(sentence) for sentence in step.outcome)
    if verbose and step.files:
        body.append(
            shortened(
                (file_line(f.action, f.file) for f in step.files), len(step.files), verbose=True
            )
        )
    if step.damage:
        body.append(_damage_table(step))
    if step.check:
        body.append(line(("✓ ", "bold green"), (_checked(step.check), "green")))
    yield from (Padding(part, (0, 0, 0, 3), expand=False) for part in body)
    yield text("")


def _damage_table(step: DemoStep) -> RenderableType:
    return table(
        COLUMNS,
        [
            (text(d.kind), text(d.command, "red"), line(("✓ ", "green"), (d.became, "")))
            for d in step.damage
        ],
    )


def _plain_end(result: DemoResult) -> Iterator[str]:
    yield from LESSONS
    yield from _next_lines(result)
    yield _last_line(result)


def _rich_end(result: DemoResult) -> Iterator[RenderableType]:
    from rich.console import Group

    lessons = Group(*(line(("• ", "cyan"), (lesson, "")) for lesson in LESSONS))
    yield panel("What you have seen", lessons, "green")
    yield from (text(sentence) for sentence in _next_lines(result))
    yield text(_last_line(result), "bold")


def _next_lines(result: DemoResult) -> Iterator[str]:
    """What to type now."""
    if not result.kept:
        yield "In a repository of yours, begin with:  plan create NAME"
        return
    yield "To play on, wreck it once more and look around:"
    yield f"  cd {safe(shlex.quote(str(result.sandbox)))}"
    yield "  sh ../../agent.sh"
    yield "  plan status"
    yield "  plan rollback good"
    yield "  plan checkpoint list --all"
    yield f"When you have seen enough:  rm -rf {safe(shlex.quote(str(result.place)))}"


def _last_line(result: DemoResult) -> str:
    seconds = f"{result.duration_ms / 1000:.1f} s"
    if result.kept:
        return f"All of it exact, in {seconds}; the repository is in {safe(result.place)}"
    return f"All of it exact, in {seconds}; nothing is left behind"
