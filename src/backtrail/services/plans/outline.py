"""What a new plan will be: where its sandbox goes, and what it begins with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError, SandboxInvalidError
from backtrail.domain.ids import PlanId, SandboxId
from backtrail.domain.plan import Phase, Plan, PlanState, Sandbox, SandboxKind
from backtrail.domain.timeline import FIRST_EPOCH
from backtrail.git.user.branches import refuse_impossible_branch
from backtrail.git.user.discovery import worktree_at
from backtrail.git.user.head import read_git_state
from backtrail.git.user.identity import is_checkout, refuse_absurd
from backtrail.services.session.context import new_id

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.ids import CommitId
    from backtrail.git.user.repository import UserRepository
    from backtrail.services.session.context import Workspace


@dataclass(frozen=True, slots=True)
class PlanOutline:
    """Works out plans that do not exist yet; nothing is made here."""

    workspace: Workspace

    def own(self, name: str, base: str | None) -> Plan:
        """A plan whose worktree we make, beside the repository, on a branch of its own."""
        repository = self.workspace.user_repository()
        commit = self._base_commit(repository, base)
        base_ref = repository.branch_of(base, self.workspace.start_git_dir)
        return self.own_at(name, commit, base_ref)

    def own_at(self, name: str, base: CommitId, base_ref: str | None) -> Plan:
        """The same, with a base that is known already."""
        ws = self.workspace
        path = ws.sandbox_root / name
        branch = ws.settings.sandbox.branch_prefix + name
        _refuse_taken(ws.common_dir, path, branch)
        return self._plan(name, SandboxKind.OWN, path, branch, base, base_ref)

    def _base_commit(self, repository: UserRepository, base: str | None) -> CommitId:
        if base is not None:
            return repository.resolve_commit(base, self.workspace.start_git_dir)
        commit = repository.head_commit(self.workspace.start_git_dir)
        if commit is None:
            raise RefusedError(
                "the repository has no commit yet, so there is nothing to make a sandbox from",
                hint="commit something first, or attach this checkout with --sandbox .",
            )
        return commit

    def attached(self, name: str, path: Path) -> Plan:
        """A plan on a worktree of the user's, whose branch stays theirs."""
        ws = self.workspace
        path = path.resolve()
        refuse_absurd(path, ws.user.home)
        worktree = worktree_at(path)
        plan = self._plan(name, SandboxKind.ATTACHED, path, None, None, None)
        if worktree is None or not is_checkout(worktree, plan.sandbox, ws.common_dir):
            raise SandboxInvalidError(
                f"{str(path)!r} is not the root of a worktree of this repository",
                hint="git worktree list shows them",
            )
        ws.refuse_foreign(path, worktree.git_dir)
        with ws.database.read() as uow:
            holder = uow.plans.by_sandbox_path(ws.repository_id, str(path))
        if holder is not None:
            raise RefusedError(
                f"{str(path)!r} is already the sandbox of plan {holder.name!r}",
                hint="two plans cannot share one sandbox",
            )
        state = read_git_state(worktree.git_dir, None)
        base_ref = (state.head_ref or "").removeprefix("refs/heads/") or None
        sandbox = replace(plan.sandbox, git_dir=worktree.git_dir, base_commit=state.head_commit)
        return replace(plan, base_ref=base_ref, sandbox=sandbox)

    def _plan(
        self,
        name: str,
        kind: SandboxKind,
        path: Path,
        branch: str | None,
        base: CommitId | None,
        base_ref: str | None,
    ) -> Plan:
        ws = self.workspace
        plan_id = PlanId(new_id())
        sandbox = Sandbox(
            sandbox_id=SandboxId(new_id()),
            plan_id=plan_id,
            kind=kind,
            path=path,
            git_dir=ws.common_dir,
            branch=branch,
            base_commit=base,
            store_id=ws.store_id,
            host_id=ws.host_id,
        )
        return Plan(
            plan_id=plan_id,
            repository_id=ws.repository_id,
            name=name,
            phase=Phase.STRATEGIZE,
            state=PlanState.QUEUED,
            current_epoch=FIRST_EPOCH,
            position=0,
            parent_plan_id=None,
            base_ref=base_ref,
            applied_commit=None,
            created_at=ws.now(),
            sandbox=sandbox,
        )

    def refuse_another(self, plan: Plan, *, base: str | None, attach: Path | None) -> None:
        """Refuse to finish a half-made plan when something else is asked for under its name."""
        ws, sandbox = self.workspace, plan.sandbox
        other_base = (
            base is not None
            and ws.user_repository().resolve_commit(base, ws.start_git_dir) != sandbox.base_commit
        )
        kind = SandboxKind.OWN if attach is None else SandboxKind.ATTACHED
        other_place = attach is not None and attach.resolve() != sandbox.path
        if other_base or other_place or kind is not sandbox.kind:
            raise RefusedError(
                f"the creation of plan {plan.name!r} was interrupted, and it began differently",
                hint=f"finish it first with plan save {plan.name}, or choose another name",
                details={"path": str(sandbox.path), "base_commit": sandbox.base_commit},
            )


def _refuse_taken(common_dir: Path, path: Path, branch: str) -> None:
    if path.exists() or path.is_symlink():
        raise RefusedError(
            f"{str(path)!r} is already there",
            hint="move it away, or attach it if it is a worktree: plan create NAME --sandbox PATH",
        )
    hint = "choose another name for the plan, or rename that branch"
    refuse_impossible_branch(common_dir, branch, exists="already exists", hint=hint)
