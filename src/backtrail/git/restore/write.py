"""Bringing files back: what was planned, done in an order that a kill at any point leaves whole.

Survivors of a plan are taken out of the private index first and stay on disk.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from backtrail.domain.ids import TreeId
from backtrail.domain.plan import Sandbox
from backtrail.git.capture.storing import take_in, take_out
from backtrail.git.ignore.evaluate import ignored_at
from backtrail.git.osfiles.beneath import Beneath
from backtrail.git.process.runner import GitRunner
from backtrail.git.restore.metadata import (
    apply_modes,
    clear_away,
    make_bare_directories,
    make_way,
    part_hard_links,
)
from backtrail.git.restore.plan import FilePlan
from backtrail.git.restore.selected_files import IncludedRestore
from backtrail.git.restore.staging import staging_for
from backtrail.git.restore.switch import changed_meanwhile, errors_about, switch_index
from backtrail.git.restore.writer import Writer
from backtrail.git.store.index import keep_index, note_written, working_index
from backtrail.git.store.objects import files_by_path, tree_changes
from backtrail.git.store.store import PrivateStore


def restore_files(
    store: PrivateStore, sandbox: Sandbox, plan: FilePlan, failpoints: Failpoints = NO_FAILPOINTS
) -> None:
    """Make the sandbox's files those of the goal; the private index knows the present exactly."""
    kept = store.layout.sandbox_index(sandbox.sandbox_id)
    # Modes change behind git's back: the next look must not believe what was noted of them.
    kept.with_name(f"{kept.name}.inventory").unlink(missing_ok=True)
    with (
        errors_about(b""),
        staging_for(store, sandbox) as staging,
        Beneath(sandbox.path) as inside,
    ):
        writer = Writer(store, inside, staging, plan.mode_of, failpoints)
        make_way(inside, [os.fsencode(change.file) for change in plan.changes])
        clear_away(inside, plan.extras)
        _switch_files(store, sandbox, plan, writer)
        chosen = plan.goal.included
        if chosen.absent or chosen.tree != plan.present[0]:
            IncludedRestore(store, sandbox).restore(
                writer,
                (*plan.present, plan.goal.tree),
                chosen.tree,
                map(os.fsencode, chosen.absent),
                lambda emptied: _staying(store, plan, emptied),
            )
        make_bare_directories(inside, plan.goal.extras)
        part_hard_links(store, sandbox.path, writer, plan.extras.files)
        apply_modes(inside, plan.goal.extras, plan.extras, writer.placed)


def _switch_files(store: PrivateStore, sandbox: Sandbox, plan: FilePlan, writer: Writer) -> None:
    """Write and remove all files but the chosen ignored ones."""
    began, root, goal = time.time_ns(), sandbox.path, plan.goal
    kept = store.layout.sandbox_index(sandbox.sandbox_id)
    # Before anything tells whether these are as they were captured.
    look = writer.look({*(change.path for change in plan.switching), *plan.chosen_in_the_way})
    with working_index(store, kept) as index:
        git = store.git(root, index)
        survivors = [os.fsencode(path) for path in plan.survivors if not path.endswith("/")]
        out = [*survivors, *plan.handed_over]
        if out:
            take_out(git, out)
        if plan.chosen_in_the_way:
            _take_in_chosen(store, git, root, plan)
        present, changes = plan.present[1], plan.switching
        if out or plan.chosen_in_the_way:
            present = TreeId(git.call("write-tree").text)
            changes = tree_changes(store, present, goal.tree)
        switch_index(git, root, present, goal.tree)
        wanted = set(plan.extras.directories)
        writer.change(changes, look, index, wanted.intersection)
        note_written(index, {c.path: c.new for c in changes if c.new}, writer.placed)
        keep_index(index, kept, began_ns=began)


def _staying(store: PrivateStore, plan: FilePlan, emptied: set[bytes]) -> set[bytes]:
    """Directories that stay although no chosen file is left in them.

    Those that the goal has, and those that its rules ignore unless they are known to have been
    absent.
    """
    paths = [path + b"/" for path in sorted(emptied)]
    ignored = ignored_at(store, plan.files, plan.goal.ignore_rules, paths)
    ignored -= {os.fsencode(path) + b"/" for path in plan.goal.extras.absent}
    return {path.rstrip(b"/") for path in ignored} | emptied.intersection(plan.extras.directories)


def _take_in_chosen(store: PrivateStore, git: GitRunner, root: Path, plan: FilePlan) -> None:
    """Take chosen files that are in the way into the index, from which git replaces them."""
    take_in(git, root, plan.chosen_in_the_way)
    held, found = files_by_path(store, plan.present[0]), git.call("ls-files", "-s", "-z").records()
    split = (record.split(b"\t", 1) for record in found)
    now = {path: head.split(b" ") for head, path in split}
    for path in plan.chosen_in_the_way:
        mode, name = held[path]
        if path in now and now[path][:2] != [mode, name.encode()]:
            raise changed_meanwhile([path])
