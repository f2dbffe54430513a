"""The objects that several results have in them; the names here are a promise to scripts."""

from __future__ import annotations

from backtrail.cli.render.shape import (
    COMMIT,
    COUNT,
    FLAG,
    ID,
    INTEGER,
    MOMENT,
    ORDINAL,
    TEXT,
    Kind,
    itself,
    listed,
    open_shape,
    shape,
    words,
)
from backtrail.domain.checkpoint import CheckpointState, CheckpointType
from backtrail.domain.decision import DecisionState
from backtrail.domain.operation import OperationKind, OperationState
from backtrail.domain.plan import Phase, PlanState, SandboxKind
from backtrail.domain.rollback import DiffAction, Part, RevertAction
from backtrail.domain.run import AbortAction, Cause, OnFailure, RunStatus

OF_A_PLAN = {"plan": TEXT.at("plan.name"), "plan_id": ID.at("plan.plan_id")}
"""What names the plan of a result that is about something else."""
PHASE = words(Phase, "phase")
PLAN_STATE = words(PlanState, "plan_state")
CHECKPOINT_TYPE = words(CheckpointType, "checkpoint_type")
CHECKPOINT_STATE = words(CheckpointState, "checkpoint_state")
OPERATION_KIND = words(OperationKind, "operation_kind")
ABORT_ACTION = words(AbortAction, "abort_action")

SANDBOX = shape(
    "sandbox",
    sandbox_id=ID,
    kind=words(SandboxKind, "sandbox_kind"),
    path=TEXT,
    branch=TEXT | None,
    base_commit=COMMIT | None,
)
PLAN = shape(
    "plan",
    plan_id=ID,
    name=TEXT,
    phase=PHASE,
    state=PLAN_STATE,
    parent_plan_id=ID | None,
    base_ref=TEXT | None,
    applied_commit=COMMIT | None,
    created_at=MOMENT,
    sandbox=SANDBOX,
)
ORIGIN = shape("origin", plan=TEXT, plan_id=ID, checkpoint_id=ID, seq=ORDINAL)
NOT_CAPTURED = shape("not_captured", path=TEXT, reason=TEXT, size=COUNT | None)
METADATA = open_shape(
    "metadata",
    reason=TEXT,
    source_tool=TEXT | None,
    phase=TEXT | None,
    actor=TEXT,
    host=TEXT,
    meta=Kind(schema={"type": "object", "additionalProperties": {"type": "string"}}),
    tree=COMMIT,
    state_commit=COMMIT,
    head=shape(ref=TEXT | None, commit=COMMIT | None),
    kept_commits=listed(COMMIT),
    not_captured=listed(NOT_CAPTURED),
    failure=TEXT,
    adopted=FLAG,
)
CHECKPOINT = shape(
    "checkpoint",
    checkpoint_id=ID,
    plan_id=ID,
    seq=ORDINAL,
    position=ORDINAL,
    epoch=ORDINAL,
    checkpoint_type=CHECKPOINT_TYPE,
    state=CHECKPOINT_STATE,
    live=FLAG,
    sandbox_ref=COMMIT | None,
    resource_id=ID,
    decision_id=ID | None,
    parent_checkpoint_id=ID | None,
    superseded_by=ID | None,
    filesystem_path=TEXT,
    size_bytes=COUNT | None,
    label=TEXT | None,
    pinned=FLAG,
    verified_green=FLAG,
    last_completed_step=TEXT | None,
    created_at=MOMENT,
    metadata=METADATA,
)
FILE_CHANGE = shape(
    "file_change",
    file=TEXT,
    action=words(DiffAction, "diff_action"),
    added=COUNT | None,
    removed=COUNT | None,
)
NOT_RESTORED = shape(part=words([Part.HEAD, Part.UNDER_WAY]), reason=TEXT)
_LEFT_ALONE = shape(file=TEXT, reason=TEXT)
ROLLBACK = shape(
    "rollback",
    rollback_summary=shape(
        **OF_A_PLAN,
        operation=words(
            [OperationKind.ROLLBACK, OperationKind.REVERT, OperationKind.UNDO, OperationKind.REDO]
        ).at("kind"),
        operation_id=ID | None,
        checkpoint=ID.at("target.checkpoint_id"),
        checkpoint_seq=ORDINAL.at("target.seq"),
        label=(TEXT | None).at("target.label"),
        files_reverted=COUNT.at(lambda result: len(result.changes)),
        safety_checkpoint=(ID | None).at("safety_checkpoint.checkpoint_id"),
        restored_checkpoint=(ID | None).at("restored_checkpoint.checkpoint_id"),
        verified=FLAG,
        proven=listed(words(Part)),
        not_restored=listed(NOT_RESTORED),
        dry_run=FLAG,
        paths=listed(TEXT),
    ).at(itself),
    changes_reverted=listed(shape(file=TEXT, action=words(RevertAction, "revert_action"))).at(
        "changes"
    ),
    left_alone=listed(_LEFT_ALONE),
    gone_since=listed(_LEFT_ALONE),
    impact=shape(
        checkpoints_superseded=COUNT,
        decisions_after_cp=COUNT,
        tool_calls_after_cp=COUNT,
        runs_after_cp=COUNT,
        child_plans_invalidated=COUNT,
        steps_superseded=COUNT,
        steps_pending_again=COUNT,
        sandbox=TEXT,
    ),
    post_rollback_state=shape(phase=PHASE, state=PLAN_STATE, checkpoints_remaining=COUNT).at(
        "after"
    ),
)
ROLLBACK_POLICY = shape(allowed=FLAG, require_confirmation=FLAG)
OPERATION = shape(
    "operation",
    operation_id=ID,
    plan_id=ID,
    number=ORDINAL,
    kind=OPERATION_KIND,
    state=words(OperationState, "operation_state"),
    actor=TEXT,
    host=TEXT,
    command_line=TEXT,
    reason=TEXT,
    target_checkpoint_id=ID | None,
    safety_checkpoint_id=ID | None,
    result_checkpoint_id=ID | None,
    entry_operation_id=ID | None,
    phase_before=PHASE,
    state_before=PLAN_STATE,
    phase_after=PHASE,
    state_after=PLAN_STATE,
    paths=listed(TEXT),
    started_at=MOMENT,
    finished_at=MOMENT | None,
    result=open_shape(failure=TEXT, ignored_before=listed(TEXT)),
)
RUN = shape(
    "run",
    run_id=ID,
    plan_id=ID,
    number=ORDINAL,
    status=words(RunStatus, "run_status"),
    live=FLAG,
    argv=listed(TEXT),
    cwd=TEXT,
    options=shape(
        on_failure=words(OnFailure, "on_failure"),
        on_abort=ABORT_ACTION,
        timeout=Kind(schema={"type": "number"}) | None,
        verify=TEXT | None,
        post_checkpoint=FLAG,
        allow_unprotected=FLAG,
        step=shape(key=TEXT, reconcile=TEXT | None, reuse_failed=FLAG, variables=listed(TEXT))
        | None,
    ).at(lambda run: run.options.as_json()),
    decision_id=ID | None,
    pre_checkpoint_id=ID | None,
    post_checkpoint_id=ID | None,
    abort_action=ABORT_ACTION | None,
    exit_code=INTEGER | None,
    actor=TEXT,
    host=TEXT,
    created_at=MOMENT,
    started_at=MOMENT | None,
    ended_at=MOMENT | None,
    result=open_shape(
        cause=words(cause for cause in Cause if cause is not Cause.LOST),
        command_exit_code=INTEGER,
        verify_exit_code=INTEGER,
        not_started=TEXT,
        ended_processes=listed(TEXT),
        decided=TEXT,
        rollback=FLAG,
        rollback_operation_id=ID,
        operations=INTEGER,
        problem=TEXT,
        crashed=FLAG,
    ),
)
DECISION = shape(
    "decision",
    decision_id=ID.at("decision.decision_id"),
    plan_id=ID.at("decision.plan_id"),
    seq=ORDINAL.at("decision.seq"),
    number=TEXT.at("decision.number"),
    parent_decision_id=(ID | None).at("decision.parent_decision_id"),
    parent=(TEXT | None).at("parent.number"),
    position=(ORDINAL | None).at("decision.position"),
    epoch=(ORDINAL | None).at("decision.epoch"),
    state=words(DecisionState, "decision_state"),
    current=FLAG,
    revertible=FLAG,
    text=TEXT.at("decision.text"),
    rationale=TEXT.at("decision.rationale"),
    alternatives=listed(TEXT).at("decision.alternatives"),
    checkpoint=shape(checkpoint_id=ID, seq=ORDINAL, state=CHECKPOINT_STATE) | None,
    created_at=MOMENT.at("decision.created_at"),
)
