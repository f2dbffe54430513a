"""Reports about checkpoints that were taken elsewhere: as a branch, a directory, an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.text import count, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.domain.plan import BranchResult, ExportResult


def branched_report(result: BranchResult) -> Report:
    plan, checkpoint = result.plan, result.checkpoint

    def rich(_: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import line

        yield line(
            ("✓ ", "green"),
            ("Branch ", ""),
            (result.branch, "bold"),
            (f" is checkpoint {checkpoint.seq} of plan ", ""),
            (plan.name, "bold"),
            (f"  {result.commit[:12]}", "dim"),
        )

    fields = {
        "plan": plan.name,
        "plan_id": plan.plan_id,
        "checkpoint": checkpoint.checkpoint_id,
        "checkpoint_seq": checkpoint.seq,
        "branch": result.branch,
        "commit": result.commit,
    }
    return Report(
        data={"branch": fields},
        plain=lambda: (f"{name}: {safe(value)}" for name, value in fields.items()),
        rich=rich,
        values={Value.ID: checkpoint.checkpoint_id, Value.COMMIT: result.commit},
        silenced_by_quiet=True,
    )


def exported_report(result: ExportResult) -> Report:
    plan, checkpoint = result.plan, result.checkpoint

    def rich(_: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import line

        yield line(
            ("✓ ", "green"),
            (count(result.files, "file"), "bold cyan"),
            (f" of checkpoint {checkpoint.seq} of plan ", ""),
            (plan.name, "bold"),
            (" in ", ""),
            (result.path, "bold"),
        )

    fields = {
        "plan": plan.name,
        "plan_id": plan.plan_id,
        "checkpoint": checkpoint.checkpoint_id,
        "checkpoint_seq": checkpoint.seq,
        "path": str(result.path),
        "files": result.files,
        "ignored_left_out": result.ignored_left_out,
    }
    left = count(result.ignored_left_out, "captured ignored file")
    said = (f"{left} left out; --with-ignored exports them, too",)
    return Report(
        data={"export": fields},
        plain=lambda: (f"{name}: {safe(value)}" for name, value in fields.items()),
        rich=rich,
        values={Value.ID: checkpoint.checkpoint_id, Value.PATH: str(result.path)},
        messages=said if result.ignored_left_out else (),
        silenced_by_quiet=True,
    )
