"""The command tree: every command, in the order in which `plan --help` shows them."""

from collections.abc import Callable
from functools import cache
from typing import Annotated

import typer
from typer.main import get_command

from backtrail import __version__
from backtrail.cli.commands import checkpoint, config, db, decision, prune, runs
from backtrail.cli.commands.apply import apply
from backtrail.cli.commands.cancel import cancel
from backtrail.cli.commands.correct import correct
from backtrail.cli.commands.create import create
from backtrail.cli.commands.demo import demo
from backtrail.cli.commands.diff import diff
from backtrail.cli.commands.fork import branch, export, fork
from backtrail.cli.commands.list import list_plans
from backtrail.cli.commands.log import log
from backtrail.cli.commands.ops import ops
from backtrail.cli.commands.path import path
from backtrail.cli.commands.policy import policy
from backtrail.cli.commands.remove import remove
from backtrail.cli.commands.restore import restore
from backtrail.cli.commands.resume import resume
from backtrail.cli.commands.rollback import rollback
from backtrail.cli.commands.run import abort, run
from backtrail.cli.commands.save import save
from backtrail.cli.commands.status import status
from backtrail.cli.commands.steps import steps
from backtrail.cli.commands.tool import tool
from backtrail.cli.commands.undo import redo, undo
from backtrail.cli.invocation.emit import emit
from backtrail.cli.invocation.session import Format
from backtrail.cli.parsing.command import command, group, session_of
from backtrail.cli.parsing.groups import CarefulGroup, ListingGroup, destructive
from backtrail.cli.render.report import Report
from backtrail.cli.render.shape import TEXT, itself, shape
from backtrail.domain.errors import ExitCode, UsageError

VERSION = shape(version=TEXT.at(itself))
START, PLANS, CHECKPOINTS = "First steps", "Plans", "Checkpoints"
RUNS, BACK, DECISIONS, CARE = "Protected commands", "Back and forth", "Decisions", "Care"
_ABOUT_DECISIONS = "Record the choices of a plan, each with a checkpoint before it."
_CHECKPOINT = {
    "create": save,
    "list": checkpoint.list_checkpoints,
    "show": checkpoint.show,
    "diff": diff,
    "label": checkpoint.label,
    "pin": checkpoint.pin,
    "unpin": checkpoint.unpin,
    "branch": branch,
    "export": export,
    "delete": destructive(prune.delete),
    "prune": destructive(prune.prune),
}
_RUNS = {"list": runs.list_runs, "show": runs.show}
_DECISION = {
    "add": decision.add,
    "list": decision.list_decisions,
    "tree": decision.tree,
    "show": decision.show,
}
_CONFIG = {"show": config.show, "check": config.check}
_DB = {"status": db.status, "upgrade": db.upgrade, "path": db.path}
EPILOG = (
    "PLAN may be left out inside a sandbox or when $PLAN_ID is set. "
    "Every rollback first saves what is there, so that plan undo can bring it back."
)


@cache
def program() -> Callable[..., object]:
    """The whole program; put together once, however often a process runs it."""
    return get_command(build())


def build() -> typer.Typer:
    """Every command where it belongs."""
    app = _group(
        _root, "Checkpoints and exact rollback for work in git worktree sandboxes.", epilog=EPILOG
    )
    for name, function, panel in (
        ("demo", demo, START),
        ("create", create, PLANS),
        ("list", list_plans, PLANS),
        ("status", status, PLANS),
        ("path", path, PLANS),
        ("apply", destructive(apply), PLANS),
        ("fork", fork, PLANS),
        ("cancel", destructive(cancel), PLANS),
        ("remove", destructive(remove), PLANS),
        ("restore", restore, PLANS),
        ("save", save, CHECKPOINTS),
        ("log", log, CHECKPOINTS),
        ("diff", diff, CHECKPOINTS),
        ("run", run, RUNS),
        ("abort", destructive(abort), RUNS),
        ("resume", resume, RUNS),
        ("steps", steps, RUNS),
        ("tool", tool, RUNS),
        ("rollback", destructive(rollback), BACK),
        ("undo", destructive(undo), BACK),
        ("redo", destructive(redo), BACK),
        ("ops", ops, BACK),
        ("correct", destructive(correct), DECISIONS),
        ("policy", policy, CARE),
    ):
        app.command(name, rich_help_panel=panel)(command(function))
    for name, about, panel, commands in (
        ("checkpoint", "Take, list, look at and remove checkpoints.", CHECKPOINTS, _CHECKPOINT),
        ("runs", "List and look at runs.", RUNS, _RUNS),
        ("decision", _ABOUT_DECISIONS, DECISIONS, _DECISION),
        ("config", "Look at the settings of this repository.", CARE, _CONFIG),
        ("db", "Look after the database.", CARE, _DB),
    ):
        # `plan runs` alone lists them.
        part = _group(_subgroup, about, cls=ListingGroup if name == "runs" else CarefulGroup)
        for word, function in commands.items():
            part.command(word)(command(function))
        app.add_typer(part, name=name, rich_help_panel=panel)
    return app


def _group(
    callback: Callable[..., None],
    help: str,
    epilog: str | None = None,
    cls: type[CarefulGroup] = CarefulGroup,
) -> typer.Typer:
    return typer.Typer(
        cls=cls,
        callback=group(callback),
        help=help,
        epilog=epilog,
        invoke_without_command=True,
        suggest_commands=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )


def _print_version(context: typer.Context, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    session = session_of(context)
    # Parsed before all other options, so a --format beside it has not been seen yet.
    session.assume_format_of_argv()
    emit(
        session,
        Report(data=VERSION.of(__version__), plain=lambda: [f"backtrail {__version__}"]),
    )
    raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    del version
    _subgroup(context)


def _subgroup(context: typer.Context) -> None:
    """Without a command there is nothing to do but to show what could be said."""
    if context.invoked_subcommand is not None:
        return
    if session_of(context).format is Format.JSON:
        raise UsageError(
            "no command is given", hint=f"{context.command_path} --help shows the commands"
        )
    typer.echo(context.get_help())
    raise typer.Exit(ExitCode.USAGE)
