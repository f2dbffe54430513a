"""The end of a run: the verdict, a rollback if one is due, and the record of it all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.errors import BacktrailError, ExitCode, LeaseLostError, RefusedError
from backtrail.domain.operation import OperationKind
from backtrail.domain.redaction import redacted
from backtrail.domain.rollback import RollbackRequest
from backtrail.domain.run import Ending, RunOutcome, RunStatus, Verdict, verdict
from backtrail.services.rollback.execute import carry_out
from backtrail.services.rollback.order import rollback_order
from backtrail.services.session.enter import writing
from backtrail.services.session.journal import Entry, log_done

if TYPE_CHECKING:
    from backtrail.domain.rollback import RollbackResult
    from backtrail.services.runs.active import ActiveRun


_PATIENCE_SECONDS = 300.0
"""How long the rollback of a run waits for whoever has the sandbox locked."""


def conclude(run: ActiveRun, ending: Ending) -> RunOutcome:
    """Decide, do what is due, and only then say that the run is over."""
    decided = _decide(run, ending)
    run.ws.failpoints.reach("run.finalizing")
    rollback, problem = None, ending.problem
    if decided.rollback:
        rollback, problem = _roll_back(run, ending)
    elif decided.status is RunStatus.ERROR and problem is None and ending.started:
        problem = _save_what_is_kept(run)
    status = RunStatus.ROLLED_BACK if rollback else decided.status
    _close(run, status, rollback, problem.message if problem else None)
    run.ws.failpoints.reach("run.closed")
    return RunOutcome(
        plan=run.ws.plan(run.run.plan_id),
        run=run.run,
        exit_code=ExitCode.NOT_RUN if problem else decided.exit_code,
        pre_checkpoint=run.pre_checkpoint,
        post_checkpoint=run.post_checkpoint,
        rollback=rollback,
        problem=problem,
    )


def _decide(run: ActiveRun, ending: Ending) -> Verdict:
    """From here on nobody can abort the run: who did so before is heard in this transaction."""
    with run.ws.database.write() as uow:
        uow.plans.lock(run.run.plan_id)
        now = uow.runs.get(run.run.run_id) or run.run
        decided = verdict(ending, run.order.options, now.abort_action)
        post = run.post_checkpoint
        if decided.status is RunStatus.SUCCESS and run.order.options.verify and post:
            uow.checkpoints.set_green(post.checkpoint_id)
            run.post_checkpoint = replace(post, verified_green=True)
        run.run = uow.runs.update(
            run.run.run_id,
            status=RunStatus.FINALIZING,
            exit_code=ending.exit_code,
            result={
                **ending.details,
                "decided": str(decided.status),
                "rollback": decided.rollback,
                "operations": uow.operations.next_number(run.run.plan_id),
            },
            abort_action=decided.abort_action,
        )
    return decided


def _roll_back(
    run: ActiveRun, ending: Ending
) -> tuple[RollbackResult | None, BacktrailError | None]:
    """The rollback, or why there is none."""
    if ending.problem is not None:
        return None, ending.problem
    target = run.pre_checkpoint
    if target is None:
        return None, RefusedError(
            f"run {run.run.number} was not rolled back: it was not protected",
            hint="its files are as it left them",
        )
    try:
        with writing(run.ws, run.run.plan_id, wait=_PATIENCE_SECONDS) as locked:
            reason = f"run {run.run.number} did not succeed"
            order = rollback_order(target, RollbackRequest(reason=reason))
            done = carry_out(locked, order)
    except LeaseLostError:
        raise
    except BacktrailError as error:
        return None, _of_run(run, error)
    run.ws.failpoints.reach("run.rolled_back")
    return done, None


def _of_run(run: ActiveRun, error: BacktrailError) -> BacktrailError:
    error.message = f"run {run.run.number} was not rolled back: {error.message}"
    return error


def _save_what_is_kept(run: ActiveRun) -> BacktrailError | None:
    if not run.order.options.wants_post_checkpoint or run.post_checkpoint is not None:
        return None
    try:
        run.save_after()
    except LeaseLostError:
        raise
    except BacktrailError as error:
        return error
    return None


def _close(
    run: ActiveRun,
    status: RunStatus,
    rollback: RollbackResult | None,
    problem: str | None,
) -> None:
    more: dict[str, object] = {}
    if rollback is not None:
        more["rollback_operation_id"] = rollback.operation_id
    if problem is not None:
        more["problem"] = redacted(problem)
    ws = run.ws
    with ws.database.write() as uow:
        run.run = uow.runs.update(
            run.run.run_id,
            status=status,
            ended_at=ws.now(),
            result={**run.run.result, **more},
        )
        entry = Entry(
            OperationKind.RUN, reason=f"run {run.run.number}", target=run.run.pre_checkpoint_id
        )
        outcome = {"run": run.run.run_id, "status": str(status), "exit_code": run.run.exit_code}
        log_done(
            ws, uow, uow.plans.get(run.run.plan_id), entry, run.run.post_checkpoint_id, outcome
        )


def give_up(run: ActiveRun, error: BaseException) -> None:
    """Close a run that never got as far as a verdict; if even that fails, recovery does it."""
    _close(run, RunStatus.ERROR, None, str(error) or type(error).__name__)
