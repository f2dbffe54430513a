"""An independent auditor: reads the rows with plain SQL and the store with plain git.

It knows the invariants from the design and shares no code with the program.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from support.storage.rows import Row
    from support.world.disk import Walk
    from support.world.world import World


def query(world: World, sql: str, *values: object) -> list[Row]:
    """Rows of the program's database, read without the program."""
    return world.rows.query(sql, *values)


def change(world: World, sql: str, *values: object) -> int:
    """Tamper with the database; gives the number of rows that it hit."""
    return world.rows.change(sql, *values)


def store_id(world: World) -> str:
    """What the rows of this repository are marked with."""
    return (world.store / "backtrail-store-id").read_text().strip()


def store_git(
    world: World, *arguments: str, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Plain git on the private store."""
    return subprocess.run(
        ["git", f"--git-dir={world.store}", *arguments],
        env=world.environment(),
        cwd=world.root,
        input=stdin,
        capture_output=True,
        check=False,
    )


def refs(world: World) -> dict[str, str]:
    """Commit by the last part of the ref's name, which is the checkpoint's id."""
    listed = store_git(world, "for-each-ref", "--format=%(refname) %(objectname)", "refs/").stdout
    pairs = (line.split(" ") for line in listed.decode().splitlines())
    return {name.rsplit("/", 1)[-1]: commit for name, commit in pairs}


def is_connected(world: World, *commits: str) -> bool:
    asked = "".join(f"{commit}\n" for commit in commits).encode()
    return (
        store_git(world, "rev-list", "--objects", "--quiet", "--stdin", stdin=asked).returncode == 0
    )


def problems(world: World) -> list[str]:
    """Everything that contradicts the invariants, in words; empty when all is well."""
    return [
        *world.rows.unsound(),
        *_unfinished(world),
        *_rows_against_refs(world),
        *_gaps(world),
        *_wrong_marks(world),
    ]


def unfinished(world: World) -> list[str]:
    """Rows still `creating` or `pruning`, and operations still open."""
    return _unfinished(world)


def _unfinished(world: World) -> list[str]:
    rows = query(
        world,
        "SELECT seq, state FROM checkpoint_metadata"
        " WHERE state IN ('creating', 'pruning') AND store_id = ?",
        store_id(world),
    )
    operations = query(
        world,
        "SELECT number, kind, state FROM operations"
        " WHERE state IN ('open', 'restoring') AND store_id = ?",
        store_id(world),
    )
    return [f"row {row['seq']} is still {row['state']}" for row in rows] + [
        f"{row['kind']} {row['number']} is still {row['state']}" for row in operations
    ]


def _rows_against_refs(world: World) -> list[str]:
    """`complete` means exactly one ref with that commit, connected; nothing else has a ref."""
    pinned = refs(world)
    rows = _checkpoints(world)
    complete = {row["checkpoint_id"]: row for row in rows if row["state"] == "complete"}
    found = [
        f"checkpoint {row['seq']} is {row['sandbox_ref']}, its ref is {pinned.get(str(i))}"
        for i, row in complete.items()
        if pinned.get(str(i)) != row["sandbox_ref"]
    ]
    states = {row["checkpoint_id"]: row["state"] for row in rows}
    found += [
        f"ref {name} has a row that is {states.get(name, 'not there')}"
        for name in pinned
        if name not in complete
    ]
    if not is_connected(world, *pinned.values()):
        found += [
            f"ref {n} is not connected" for n, c in pinned.items() if not is_connected(world, c)
        ]
    return found


def _checkpoints(world: World) -> list[Row]:
    return query(world, "SELECT * FROM checkpoint_metadata WHERE store_id = ?", store_id(world))


def _gaps(world: World) -> list[str]:
    rows = _checkpoints(world)
    found: list[str] = []
    for plan in {str(row["plan_id"]) for row in rows}:
        numbers = sorted(int(str(row["seq"])) for row in rows if row["plan_id"] == plan)
        places = [row["position"] for row in rows if row["plan_id"] == plan]
        places += [row["position"] for row in _placed_decisions(world, plan)]
        if numbers != list(range(1, len(numbers) + 1)):
            found.append(f"numbers of {plan} are {numbers}")
        if len(set(places)) != len(places):
            found.append(f"positions of {plan} repeat: {places}")
    return found


def _placed_decisions(world: World, plan: str) -> list[Row]:
    sql = "SELECT position FROM decisions WHERE plan_id = ? AND position IS NOT NULL"
    return query(world, sql, plan)


def _wrong_marks(world: World) -> list[str]:
    """A row is live iff its epoch and position are in the lineage of the plan's current epoch."""
    found: list[str] = []
    plans = query(
        world, "SELECT plan_id, current_epoch FROM plans WHERE repository_id = ?", store_id(world)
    )
    for plan in plans:
        limits = lineage_limits(world, str(plan["plan_id"]), int(str(plan["current_epoch"])))
        rows = query(
            world,
            "SELECT seq, epoch, position, superseded_by FROM checkpoint_metadata"
            " WHERE plan_id = ? AND state = 'complete'",
            plan["plan_id"],
        )
        for row in rows:
            limit = limits.get(int(str(row["epoch"])), -1.0)
            live = int(str(row["position"])) <= limit
            if live is not (row["superseded_by"] is None):
                found.append(
                    f"checkpoint {row['seq']} is marked {row['superseded_by']}, live={live}"
                )
    return found


def lineage_limits(world: World, plan: str, current: int) -> dict[int, float]:
    """The last position of each epoch that is in the lineage of the current one."""
    rows = query(world, "SELECT * FROM epochs WHERE plan_id = ?", plan)
    epochs = {int(str(row["epoch"])): row for row in rows}
    limits = {current: float("inf")}
    at = epochs[current]
    while at["parent_epoch"] is not None:
        parent = int(str(at["parent_epoch"]))
        limits[parent] = float(str(at["cut_position"]))
        at = epochs[parent]
    return limits


def stored_files(world: World, commit: str) -> Walk:
    """The files that a checkpoint's commit holds; modes as git keeps them."""
    listed = store_git(world, "ls-tree", "-r", "-z", "--full-tree", commit)
    assert listed.returncode == 0, listed.stderr
    entries = [record.split(b"\t", 1) for record in listed.stdout.split(b"\0")[:-1]]
    blobs = b"".join(head.split(b" ")[2] + b"\n" for head, _ in entries)
    data = store_git(world, "cat-file", "--batch", stdin=blobs).stdout
    found: Walk = {}
    for head, path in entries:
        header, _, rest = data.partition(b"\n")
        length = int(header.split(b" ")[2])
        content, data = rest[:length], rest[length + 1 :]
        mode = head[:6].decode()
        link = mode == "120000"
        found[path] = ("link" if link else "file", 0 if link else int(mode[-3:], 8), content)
    return found


def private_index(world: World) -> Path:
    """The kept index of the only sandbox."""
    [found] = (p for p in (world.backtrail_home / "index").iterdir() if "." not in p.name)
    return found


def git_dir(world: World, name: str) -> Path:
    """The git directory of a plan's worktree."""
    return world.repo / ".git" / "worktrees" / name
