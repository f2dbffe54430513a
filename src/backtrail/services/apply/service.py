"""ApplyService: bringing the outcome of a plan onto a branch of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.errors import BacktrailError, RefusedError, UsageError
from backtrail.domain.operation import OperationKind, OperationState
from backtrail.domain.plan import ApplyRequest, ApplyResult, Phase, PlanState
from backtrail.domain.settings import ApplyStrategy
from backtrail.git.applying.checkout import refuse_dirty
from backtrail.git.applying.commit import Committer, find_hooks, temporary
from backtrail.git.compare.diff import changes_shown_by
from backtrail.git.store.store import scratch_directory
from backtrail.services.apply.land import Landing, commit_place, record, users_git
from backtrail.services.apply.proposal import Proposal, propose
from backtrail.services.apply.target import check_plan_allows_apply, find_target
from backtrail.services.retention.prune import keep_within_limits
from backtrail.services.session.context import DEFAULT_WAIT, LockedSandbox, Workspace
from backtrail.services.session.enter import held
from backtrail.services.session.guards import check_sandbox_quiet, refuse_live_run
from backtrail.services.session.journal import Entry, fail_operation, open_operation
from backtrail.services.snapshot.create import create_checkpoint

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CommitId, PlanId
    from backtrail.domain.operation import Operation
    from backtrail.git.process.users_git import UsersGit


_IDENTITIES = ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT")


class ApplyService:
    """Applies the plans of one repository."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def apply(
        self,
        plan: PlanId,
        request: ApplyRequest | None = None,
        *,
        dry_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> ApplyResult:
        """Turn the sandbox's final state into commits and bring them onto the target branch."""
        request = request or ApplyRequest()
        if request.message is not None and not request.message.strip():
            raise UsageError("the message is empty", hint="leave -m out for a message of ours")
        with (
            held(self._workspace, plan, dry_run=dry_run, wait=wait) as locked,
            scratch_directory(locked.store) as scratch,
        ):
            check_plan_allows_apply(locked.plan)
            refuse_live_run(locked, end=f"plan abort {locked.plan.name}")
            check_sandbox_quiet(locked)
            return _Apply(locked, users_git(locked), request, scratch).result(dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class _Apply:
    """One apply of a locked plan."""

    locked: LockedSandbox
    users: UsersGit
    request: ApplyRequest
    scratch: Path

    def result(self, *, dry_run: bool) -> ApplyResult:
        """Look first, leaving no trace; then, if there is anything to apply, do it."""
        looking = self.users.quarantined(self.scratch / "objects")
        found = self._propose(looking, "first")
        if found.empty:
            return self._result(looking, found, dry_run=False)
        self._check(looking, found)
        return self._result(looking, found, dry_run=True) if dry_run else self._carry_out(found)

    def _propose(self, users: UsersGit, name: str) -> Proposal:
        self.locked.workspace.progress("merging")
        strategy = self.request.strategy or self.locked.workspace.settings.apply.strategy
        target = find_target(self.locked, self.request.onto, strategy)
        return propose(self.locked, users, target, strategy, self.scratch / name)

    def _check(self, users: UsersGit, found: Proposal) -> None:
        """Everything that can be refused before anything is changed."""
        if not (found.strategy is ApplyStrategy.FF and found.committed):
            _refuse_nameless(users)
        self._refuse_dirty(users, found, found.merged)

    def _refuse_dirty(self, users: UsersGit, found: Proposal, new: str) -> None:
        target = found.target
        if target.checkout and not target.in_place:
            refuse_dirty(self.locked.store, users, target.checkout, found.before, new)

    def _carry_out(self, looked: Proposal) -> ApplyResult:
        locked, ws = self.locked, self.locked.workspace
        with ws.database.write() as uow:
            entry = Entry(
                OperationKind.APPLY,
                reason=f"{looked.strategy} onto {looked.target.branch}",
                phase_after=Phase.APPLY,
                state_after=PlanState.APPLIED,
            )
            operation = open_operation(ws, uow, locked.plan, entry)
        ws.failpoints.reach("apply.opened")
        try:
            safety = self._make_safe(looked, operation)
            ws.failpoints.reach("apply.safety_made")
            found = self._propose(self.users, "second")
            if (found.target, found.head, found.tree) != (looked.target, looked.head, looked.tree):
                raise RefusedError(
                    "the sandbox or its target changed while it was looked at",
                    hint="apply again when nobody works there",
                )
            result = self._land(found, operation, safety)
        except BacktrailError as error:
            self._close(operation, error)
            raise
        keep_within_limits(locked)
        return result

    def _close(self, operation: Operation, error: BacktrailError) -> None:
        """Note the failure; one that had begun to land has noted it, or is recovery's."""
        with self.locked.workspace.database.read() as uow:
            now = uow.operations.get(operation.operation_id)
        if now is not None and now.state is OperationState.OPEN:
            fail_operation(self.locked.workspace, now, error.message)

    def _make_safe(self, found: Proposal, operation: Operation) -> Checkpoint:
        self.locked.workspace.progress("saving the sandbox as it is")
        request = CheckpointRequest(
            reason=f"before apply onto {found.target.branch}",
            checkpoint_type=CheckpointType.PRE_APPLY,
        )
        made = create_checkpoint(self.locked, request, operation_id=operation.operation_id)
        with self.locked.workspace.database.write() as uow:
            uow.operations.update(
                operation.operation_id, safety_checkpoint_id=made.checkpoint.checkpoint_id
            )
        return made.checkpoint

    def _land(self, found: Proposal, operation: Operation, safety: Checkpoint) -> ApplyResult:
        ws, target = self.locked.workspace, found.target
        hooks = find_hooks(ws.common_dir, ws.user, ws.main_root)
        # Programs that hooks run pass over whatever is inside a git directory.
        place = commit_place(self.locked) if hooks.names else self.scratch / "commit"
        with temporary(place):
            committer = Committer(self.users, hooks, place, self.request.verify)
            ws.progress("committing")
            new = self._commits(committer, found)
            ws.failpoints.reach("apply.committed")
            self._refuse_dirty(self.users, found, new)
            landing = Landing(self.locked, self.users, target, new)
            landing.land(operation, found.strategy)
            root = target.checkout.root if target.checkout else None
            complaint = committer.run_post_commit(root)
        record(self.locked, operation, new)
        ws.notices.extend([complaint] if complaint else [])
        return self._result(self.users, found, dry_run=False, new=new, done=(operation, safety))

    def _commits(self, committer: Committer, found: Proposal) -> CommitId:
        """The commit that the branch is to be at, with all that it needs before it."""
        plan, old, message = self.locked.plan, found.target.old, self.request.message
        merger = found.merger
        if found.strategy is ApplyStrategy.SQUASH:
            text = message or _squash_message(plan.name, found.subjects())
            return committer.commit(found.merged, [old] if old else [], text)
        work = found.head
        last = found.strategy is ApplyStrategy.FF
        if work is None or not found.committed:
            text = (message if last else None) or f"Work of plan {plan.name}"
            work = committer.commit(found.tree, [work] if work else [], text)
        if last or old is None:
            return work
        # A hook may have changed what was committed.
        merged = merger.merged(old, merger.tree_of(work), work, self.locked.sandbox.base_commit)
        return committer.commit(merged, [old, work], message or f"Merge plan {plan.name}")

    def _result(
        self,
        users: UsersGit,
        found: Proposal,
        *,
        dry_run: bool,
        new: CommitId | None = None,
        done: tuple[Operation, Checkpoint] | None = None,
    ) -> ApplyResult:
        ws, target = self.locked.workspace, found.target
        operation, safety = done or (None, None)
        return ApplyResult(
            plan=ws.plan(self.locked.plan.plan_id),
            onto=target.branch,
            strategy=found.strategy,
            applied=new is not None,
            dry_run=dry_run,
            commit=new,
            previous_head=target.old,
            files=changes_shown_by(users.plumbing(), found.before, new or found.merged),
            checkout=target.checkout.root if target.checkout else None,
            safety_checkpoint=safety,
            operation_id=operation.operation_id if operation else None,
            messages=_remarks(found, self.request),
        )


def _refuse_nameless(users: UsersGit) -> None:
    """Git would find out only when it commits."""
    for name in _IDENTITIES:
        output = users.plumbing().run("var", name)
        if output.code:
            raise RefusedError(
                "git does not know who you are, so it cannot commit",
                hint='git config --global user.name "YOUR NAME" and user.email YOUR@ADDRESS',
                details={"stderr": output.complaint()},
            )


def _squash_message(name: str, subjects: list[str]) -> str:
    listed = "".join(f"- {subject}\n" for subject in subjects)
    return f"Apply plan {name}\n" + (f"\n{listed}" if listed else "")


def _remarks(found: Proposal, request: ApplyRequest) -> tuple[str, ...]:
    said: list[str] = []
    if found.hidden:
        number = len(found.hidden)
        said.append(
            f"{number} marked assume-unchanged or skip-worktree not looked at, "
            f"as git would not: {', '.join(found.hidden[:3])}"
        )
    if request.message and found.strategy is ApplyStrategy.FF and found.committed:
        said.append("the message was not used: there was nothing left to commit")
    return tuple(said)
