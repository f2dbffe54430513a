"""From rows of runs to domain values and back."""

from backtrail.domain.run import Lease, Run, RunOptions
from backtrail.storage.mapping import Origin
from backtrail.storage.run_tables import RunRow


def run_of(row: RunRow) -> Run:
    return Run(
        run_id=row.run_id,
        plan_id=row.plan_id,
        number=row.number,
        status=row.status,
        fence=row.fence,
        host_id=row.host_id,
        host=row.host,
        actor=row.actor,
        holder=row.holder,
        command=row.command,
        lease=Lease(row.lease_until, row.lease_clock),
        argv=row.argv_json,
        cwd=row.cwd,
        options=RunOptions.from_json(row.options_json),
        position=row.position,
        epoch=row.epoch,
        decision_id=row.decision_id,
        pre_checkpoint_id=row.pre_checkpoint_id,
        post_checkpoint_id=row.post_checkpoint_id,
        abort_action=row.abort_action,
        exit_code=row.exit_code,
        created_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        result=row.result_json,
    )


def run_row(value: Run, origin: Origin) -> RunRow:
    return RunRow(
        run_id=value.run_id,
        plan_id=value.plan_id,
        live_plan_id=value.plan_id if value.live else None,
        number=value.number,
        status=value.status,
        fence=value.fence,
        store_id=origin.store_id,
        host_id=value.host_id,
        actor=value.actor,
        host=value.host,
        holder=value.holder,
        command=value.command,
        lease_until=value.lease.until,
        lease_clock=value.lease.clock,
        argv_json=value.argv,
        cwd=value.cwd,
        options_json=value.options.as_json(),
        position=value.position,
        epoch=value.epoch,
        decision_id=value.decision_id,
        pre_checkpoint_id=value.pre_checkpoint_id,
        post_checkpoint_id=value.post_checkpoint_id,
        abort_action=value.abort_action,
        exit_code=value.exit_code,
        created_at=value.created_at,
        started_at=value.started_at,
        ended_at=value.ended_at,
        result_json=dict(value.result),
    )
