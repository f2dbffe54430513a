"""What steps do with the services of the scenario's world, in this process."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backtrail.domain.checkpoint import Checkpoint, CheckpointRequest
from backtrail.domain.errors import BacktrailError
from backtrail.domain.plan import Phase, Plan, PlanState
from support.world.picture import Picture, picture
from support.world.world import write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from backtrail.services.checkpoints.service import CheckpointService
    from support.world.world import World

Context = Any
"""Behave's own is untyped; steps keep here `world`, `plan` and what they remember."""


def new_plan(context: Context, name: str) -> Plan:
    """Create a plan; the latest one created is the one that steps speak of."""
    world: World = context.world
    context.plan = world.create_plan(name)
    context.plans = {**getattr(context, "plans", {}), name: context.plan}
    return context.plan


def sandbox(context: Context) -> Path:
    plan: Plan = context.plan
    return plan.sandbox.path


@contextmanager
def checkpoints(context: Context) -> Generator[CheckpointService]:
    world: World = context.world
    with world.services() as services:
        yield services.checkpoints


def save(context: Context, label: str | None, **more: Any) -> Checkpoint:
    """Save a checkpoint and remember how the sandbox looks."""
    with checkpoints(context) as service:
        request = CheckpointRequest(label=label, **more)
        made = service.create_checkpoint(context.plan.plan_id, request)
    remember(context, called(made))
    return made


def work_and_save(context: Context, label: str, *, labelled: bool = True) -> None:
    """A step of an agent: one file changes, another one comes."""
    files = {"work.txt": f"at {label}\n", f"made at {label}.txt": f"{label}\n"}
    write_files(sandbox(context), files)
    save(context, label) if labelled else save(context, None, reason=NAMED + label)


def look(context: Context) -> Picture:
    plan: Plan = context.plan
    return picture(context.world, plan.sandbox.path, plan.sandbox.branch)


def remember(context: Context, name: str) -> None:
    context.remembered[name] = look(context)


def listed(context: Context, *, include_all: bool = True) -> list[Checkpoint]:
    with checkpoints(context) as service:
        return service.list_checkpoints(context.plan.plan_id, include_all=include_all)


NAMED = "the work of "


def called(checkpoint: Checkpoint) -> str:
    """What scenarios call a checkpoint: its label, else what it is the work of, else its type."""
    kind = str(checkpoint.checkpoint_type)
    named = checkpoint.reason.startswith(NAMED) and kind == "manual"
    return checkpoint.label or (checkpoint.reason.removeprefix(NAMED) if named else kind)


def reference(context: Context, name: str) -> str:
    """What the program understands; of one that has no label its number."""
    unlabelled = {called(c): str(c.seq) for c in listed(context) if c.label is None}
    return unlabelled.get(name, name)


def find(context: Context, name: str) -> Checkpoint:
    return next(c for c in listed(context) if called(c) == name)


def stored_tree(context: Context, commit: str | None) -> str:
    """The tree of a checkpoint's commit, asked of git and not of Backtrail."""
    store = f"--git-dir={context.world.store}"
    return context.world.git(store, "rev-parse", f"{commit}^{{tree}}").strip()


def stored_files(context: Context, checkpoint: Checkpoint) -> list[str]:
    """The paths that a checkpoint holds, asked of git and not of Backtrail."""
    store = f"--git-dir={context.world.store}"
    tree = checkpoint.sandbox_ref or ""
    return context.world.git(store, "ls-tree", "-r", "-z", "--name-only", tree).split("\0")[:-1]


def set_plan_state(context: Context, phase: str, state: str) -> None:
    world: World = context.world
    with world.services() as services, services.workspace.database.write() as uow:
        uow.plans.set_state(context.plan.plan_id, Phase(phase), PlanState(state))


def plan_now(context: Context) -> Plan:
    world: World = context.world
    with world.services() as services:
        return services.plans.resolve(context.plan.name)


def refusal(act: Callable[..., object], *arguments: object) -> BacktrailError | None:
    """The error with which an act is refused; None if it is not."""
    try:
        act(*arguments)
    except BacktrailError as error:
        return error
    return None
