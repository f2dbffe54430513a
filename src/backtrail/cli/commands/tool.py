"""`plan tool`."""

from __future__ import annotations

from typing import Annotated

from backtrail.cli.commands.run import Cwd, ResultFile, execution_of
from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import PlanOption, Wait, argument
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.domain.errors import UsageError

Words = Annotated[list[str] | None, argument(metavar="[PLAN] NAME", help="The tool.")]


def tool(
    session: Session,
    words: Words = None,
    *,
    plan_option: PlanOption = None,
    cwd: Cwd = ".",
    result: ResultFile = None,
    wait: Wait = 30.0,
) -> Report:
    """Run a command as a tool that plan.toml may declare: plan tool [PLAN] NAME -- COMMAND."""
    from backtrail.cli.views.tools import called_report

    session.take_result_file(result)
    with session.services() as services:
        plan, names = Finder(session, services, plan_option, destructive=True).plan_and_words(
            words or (), most=1
        )
        if not names:
            raise UsageError(
                "no tool is named", hint="name it before --: plan tool pytest -- pytest -q"
            )
        call = services.tools.execute(
            plan,
            names[0],
            session.trailing,
            cwd=cwd,
            wait=wait,
            execution=execution_of(session),
        )
    return called_report(plan, call)
