"""`plan checkpoint create`, and `plan save`, which is the same."""

from collections.abc import Iterable
from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import PlanArgument, PlanOption, Print, Reason, Wait, option
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.checkpoints import saved_report
from backtrail.domain.checkpoint import PROTOCOL_TYPES, CheckpointRequest, CheckpointType
from backtrail.domain.errors import UsageError
from backtrail.domain.ids import DecisionId

_TYPES = ", ".join(t for t in CheckpointType if t not in PROTOCOL_TYPES)

Label = Annotated[str | None, option("--label", metavar="LABEL", help="A name to find it by.")]
Type = Annotated[CheckpointType, typer.Option("--type", metavar="TYPE", help=f"One of {_TYPES}.")]
Tool = Annotated[str | None, option("--tool", metavar="NAME", help="The tool that asks for it.")]
Phase = Annotated[str | None, option("--phase", metavar="PHASE", help="The phase it belongs to.")]
Decision = Annotated[str | None, option("--decision", metavar="ID", help="The decision behind it.")]
Meta = Annotated[
    list[str] | None,
    option("--meta", metavar="KEY=VALUE", help="More to record; repeatable."),
]
Pin = Annotated[bool, typer.Option("--pin", help="Never prune it.")]


def save(
    session: Session,
    plan: PlanArgument = None,
    *,
    plan_option: PlanOption = None,
    reason: Reason = "",
    label: Label = None,
    type: Type = CheckpointType.MANUAL,
    tool: Tool = None,
    phase: Phase = None,
    decision: Decision = None,
    meta: Meta = None,
    pin: Pin = False,
    wait: Wait = 30.0,
    print_: Print = None,
) -> Report:
    """Record the sandbox as it is now: files, index, HEAD and branch."""
    request = CheckpointRequest(
        reason=reason,
        checkpoint_type=type,
        label=label,
        source_tool=tool,
        phase=phase,
        decision_id=None if decision is None else DecisionId(decision),
        pinned=pin,
        meta=_pairs(meta or ()),
    )
    with session.services() as services:
        found = Finder(session, services, plan_option).plan(plan)
        checkpoint = services.checkpoints.create_checkpoint(found, request, wait=wait)
    return saved_report(found, checkpoint, "Saved checkpoint ").only(print_)


def _pairs(given: Iterable[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise UsageError(
                f"--meta {text!r} is not KEY=VALUE", hint="for instance --meta ticket=42"
            )
        pairs[key] = value
    return pairs
