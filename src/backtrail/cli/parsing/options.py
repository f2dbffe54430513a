"""Options and arguments that several commands share, so that they read and act the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.models import ArgumentInfo, OptionInfo

from backtrail.cli.invocation.session import Format
from backtrail.cli.parsing.completion import complete_plan
from backtrail.cli.render.report import Value

Completion = Callable[[str], list[tuple[str, str]]]
FOR_ALL = "Options for all commands"


def something(text: str) -> str:
    """Refuse an empty word: in scripts it is a variable that nobody has set."""
    if not text.strip():
        raise typer.BadParameter("it is empty")
    return text


def some_path(text: str) -> Path:
    return Path(something(text))


def option(
    *names: str,
    help: str,
    metavar: str | None = None,
    panel: str | None = None,
    min: int | None = None,
    parser: Callable[[str], Any] | None = None,
    completion: Completion | None = None,
) -> OptionInfo:
    """An option whose default is nothing that a reader would want to see."""
    return typer.Option(
        *names,
        help=help,
        metavar=metavar,
        min=min,
        parser=parser,
        autocompletion=completion,
        show_default=False,
        rich_help_panel=panel,
    )


def argument(*, metavar: str, help: str, completion: Completion | None = None) -> ArgumentInfo:
    """The same for an argument."""
    return typer.Argument(metavar=metavar, help=help, autocompletion=completion, show_default=False)


Directory = Annotated[
    Path | None,
    option(
        "-C", parser=some_path, metavar="PATH", help="Work as if started in PATH.", panel=FOR_ALL
    ),
]
OutputFormat = Annotated[
    Format | None,
    option(
        "--format",
        help="How to print; otherwise $PLAN_FORMAT, else rich on a terminal and plain elsewhere.",
        panel=FOR_ALL,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "-q",
        "--quiet",
        help="Print errors and the data that was asked for, nothing else.",
        rich_help_panel=FOR_ALL,
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "-v", "--verbose", help="Print long lists and ids in full.", rich_help_panel=FOR_ALL
    ),
]

PLAN_HELP = "Name, id or beginning of an id; else $PLAN_ID, or the sandbox you are in."

PlanArgument = Annotated[
    str | None, argument(metavar="PLAN", help=PLAN_HELP, completion=complete_plan)
]
PlanOption = Annotated[
    str | None,
    option(
        "-p", "--plan", metavar="PLAN", help="The plan, as an option.", completion=complete_plan
    ),
]
CHECKPOINT_HELP = (
    "A checkpoint: number, id or its beginning, label, first, latest, latest~N, last-green, "
    "before:RUN or before:DECISION."
)
Print = Annotated[Value | None, option("--print", help="Print this one value and nothing else.")]
Wait = Annotated[
    float,
    typer.Option("--wait", metavar="SECONDS", min=0, help="How long to wait for a busy sandbox."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
YesForSymmetry = Annotated[
    bool, typer.Option("--yes", "-y", help="Accepted for scripts; there is no question to answer.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", "-n", help="Show what would happen and change nothing.")
]
AbortRun = Annotated[
    bool, typer.Option("--abort-run", help="End a run that is active in the sandbox first.")
]
DuringMerge = Annotated[
    bool,
    typer.Option(
        "--during-merge",
        help="Also while a merge, rebase or the like is under way in an attached sandbox.",
    ),
]
Reason = Annotated[str, option("-m", "--reason", metavar="TEXT", help="Why, for the record.")]
Limit = Annotated[int | None, option("--limit", metavar="N", min=1, help="Only the newest N.")]
