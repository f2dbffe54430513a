"""Options and arguments that several commands share, so that they read and act the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from backtrail.cli.invocation.session import Format
from backtrail.cli.parsing.completion import complete_plan
from backtrail.cli.render.report import Value

FOR_ALL = "Options for all commands"


def something(text: str) -> str:
    """Refuse an empty word: in scripts it is a variable that nobody has set."""
    if not text.strip():
        raise typer.BadParameter("it is empty")
    return text


def some_path(text: str) -> Path:
    return Path(something(text))


Directory = Annotated[
    Path | None,
    typer.Option(
        "-C",
        parser=some_path,
        metavar="PATH",
        help="Work as if started in PATH.",
        show_default=False,
        rich_help_panel=FOR_ALL,
    ),
]
OutputFormat = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="How to print; otherwise $PLAN_FORMAT, else rich on a terminal and plain elsewhere.",
        show_default=False,
        rich_help_panel=FOR_ALL,
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
    str | None,
    typer.Argument(
        metavar="PLAN", help=PLAN_HELP, show_default=False, autocompletion=complete_plan
    ),
]
PlanOption = Annotated[
    str | None,
    typer.Option(
        "-p",
        "--plan",
        metavar="PLAN",
        help="The plan, as an option.",
        show_default=False,
        autocompletion=complete_plan,
    ),
]
CHECKPOINT_HELP = (
    "A checkpoint: number, id or its beginning, label, first, latest, latest~N, last-green, "
    "before:RUN or before:DECISION."
)
Print = Annotated[
    Value | None,
    typer.Option("--print", help="Print this one value and nothing else.", show_default=False),
]
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
Reason = Annotated[
    str,
    typer.Option("-m", "--reason", metavar="TEXT", help="Why, for the record.", show_default=False),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="Only the newest N.", show_default=False),
]
