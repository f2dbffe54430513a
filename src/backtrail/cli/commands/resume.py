"""`plan resume`."""

from backtrail.cli.commands.run import ResultFile, execution_of
from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import DryRun, PlanArgument, PlanOption
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Failure, Report
from backtrail.cli.views.runs import resumption_report


def resume(
    session: Session,
    plan: PlanArgument = None,
    *,
    plan_option: PlanOption = None,
    dry_run: DryRun = False,
    result: ResultFile = None,
) -> Report | Failure:
    """Run the command of a run that crashed or was interrupted again.

    A command with a secret in it is given again: plan resume [PLAN] -- COMMAND.
    """
    session.take_result_file(result)
    with session.services() as services:
        found = Finder(session, services, plan_option, destructive=True).plan(plan)
        execution = execution_of(session)
        return resumption_report(
            services.runs.resume(
                found.plan_id, session.trailing, dry_run=dry_run, execution=execution
            )
        )
