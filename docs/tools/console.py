"""Runs what pages show as typed into a shell, and compares what comes back.

A page is one shell in an empty home. In a `console` block a line that begins with `$` is run (with
its continuations, which begin with `>`), and the lines below it must come back; `…` on a line of
its own stands for any lines. A command must succeed, unless its output says that it did not
(`error:`, `Killed`, a JSON envelope) or `echo $?` follows it. A block marked `sh run` is run as a
whole and must succeed. `<!-- console` … `-->` holds commands that are run and not shown.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .pages import shown
from .shell import Said, run, scratch_home
from .steady import same_lines, tidy

_BLOCK = re.compile(
    r"^```console\n(?P<shown>.*?)^```$"
    r"|^```sh run\n(?P<script>.*?)^```$"
    r"|^<!-- console\n(?P<hidden>.*?)^-->$",
    re.DOTALL | re.MULTILINE,
)
_FAILED = re.compile(r'^(error:|Killed$)|"status": "error"', re.MULTILINE)
_ANY = "…"


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a page."""

    command: str
    at: int
    """Where in the page the output begins that is shown for it."""
    output: str | None
    """None if no output is shown, and none is compared."""


def check(pages: Sequence[Path], *, write: bool) -> list[str]:
    """Commands that did not do what their page says; with `write`, changed outputs are renewed."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(partial(_check_page, write=write), pages)
        return [problem for problems in found for problem in problems]


def _check_page(page: Path, *, write: bool) -> list[str]:
    text = page.read_text("utf-8")
    steps = list(_steps(text))
    if not steps:
        return []
    with scratch_home() as home:
        said = run(home, [step.command for step in steps], {"PLAN_FORMAT": "rich"})
    if len(said) < len(steps):
        return [f"{shown(page)}: the shell ended at {steps[len(said)].command!r}"]
    following = [*(step.command for step in steps[1:]), ""]
    problems: list[str] = []
    changed: list[tuple[Step, str]] = []
    for step, answer, after in zip(steps, said, following, strict=True):
        if not _may_fail(step, after) and answer.code:
            problems.append(_told(page, step, answer, f"exited with {answer.code}"))
        elif step.output is not None and not same_lines(step.output, answer.output, _ANY):
            if write and _ANY not in step.output:
                changed.append((step, tidy(answer.output)))
            else:
                problems.append(_told(page, step, answer, "printed something else"))
    if changed:
        page.write_text(_renewed(text, changed), "utf-8")
    return problems


def _steps(text: str) -> Iterator[Step]:
    for block in _BLOCK.finditer(text):
        if block["shown"] is not None:
            yield from _commands(block["shown"], block.start("shown"))
        else:
            yield Step(block["script"] or block["hidden"], block.start(), None)


def _commands(block: str, start: int) -> Iterator[Step]:
    command: list[str] = []
    output = ""
    at = start
    for line in [*block.splitlines(keepends=True), "$ "]:
        if line.startswith("$ "):
            if command:
                yield Step("\n".join(command), at, output)
            command, output = [line[2:].rstrip("\n")], ""
        elif line.startswith("> ") and not output:
            command.append(line[2:].rstrip("\n"))
        else:
            output += line
        start += len(line)
        at = start - len(output)


def _may_fail(step: Step, following: str) -> bool:
    return following == "echo $?" or bool(_FAILED.search(step.output or ""))


def _told(page: Path, step: Step, answer: Said, what: str) -> str:
    wanted, found = (step.output or "").splitlines(), tidy(answer.output).splitlines()
    differences = difflib.unified_diff(wanted, found, "in the page", "now", lineterm="", n=1)
    return "\n".join((f"{shown(page)}: {step.command!r} {what}", *differences))


def _renewed(text: str, changed: list[tuple[Step, str]]) -> str:
    for step, output in reversed(changed):
        end = step.at + len(step.output or "")
        text = text[: step.at] + output + text[end:]
    return text
