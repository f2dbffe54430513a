"""Copies of real rows, many at once: ten thousand real checkpoints would take half an hour."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def copy_plan(database, name, count):
    """So many plans more, each with a sandbox that is not there, and its first checkpoint."""
    with closing(sqlite3.connect(database)) as connection, connection:
        [plan] = _rows(connection, "plans", "name", name)
        old = plan["plan_id"]
        tables = {
            table: _rows(connection, table, "plan_id", old)
            for table in ("sandboxes", "epochs", "operations", "checkpoint_metadata")
        }
        connection.execute("PRAGMA foreign_keys = OFF")
        for number in range(count):
            ids = _Renamed(number)
            twin = f"{name}-{number}"
            _insert(connection, "plans", {**ids(plan), "name": twin, "live_name": twin})
            for table, found in tables.items():
                for row in found:
                    changed = ids(row)
                    for column in ("path", "git_dir", "filesystem_path", "branch"):
                        if changed.get(column):
                            changed[column] += f"-{number}"
                    _insert(connection, table, changed)


def copy_checkpoints(database, store, count, env):
    """So many checkpoints more, each with its ref and an operation of its own."""
    with closing(sqlite3.connect(database)) as connection, connection:
        real = _rows(connection, "checkpoint_metadata", "state", "complete")[1:]
        last = real[-1]
        [plan] = _rows(connection, "plans", "plan_id", last["plan_id"])
        operations = {row["operation_id"]: row for row in _rows(connection, "operations")}
        connection.execute("PRAGMA foreign_keys = OFF")
        numbers = max(row["number"] for row in operations.values())
        refs = []
        for number in range(1, count + 1):
            ids = _Renamed(number)
            row = real[number % len(real)]
            copy = {**row, "checkpoint_id": ids.renamed(last["checkpoint_id"])}
            copy |= {"seq": last["seq"] + number, "position": plan["position"] + number}
            source = operations.get(row["operation_id"]) or next(iter(operations.values()))
            entry = {**source, "operation_id": ids.renamed(max(operations))}
            entry |= {"number": numbers + number, "stack": None}
            entry["result_checkpoint_id"] = copy["checkpoint_id"]
            copy["operation_id"] = entry["operation_id"]
            _insert(connection, "operations", entry)
            _insert(connection, "checkpoint_metadata", copy)
            ref = f"refs/backtrail/{row['resource_id']}/{copy['checkpoint_id']}"
            refs.append(f"create {ref} {row['sandbox_ref']}\n")
        connection.execute("UPDATE plans SET position = position + ?", (count,))
    subprocess.run(
        ["git", "-C", str(store), "update-ref", "--stdin"],
        input="".join(refs), text=True, env=env, check=True,
    )  # fmt: skip


class _Renamed:
    """Ids that sort behind those they are made from, one for each number."""

    def __init__(self, number):
        digits = ""
        for _ in range(5):
            number, digit = divmod(number, len(_DIGITS))
            digits = _DIGITS[digit] + digits
        self._tail = f"Z{digits}"

    def renamed(self, value):
        return value[: -len(self._tail)] + self._tail

    def __call__(self, row):
        return {
            name: self.renamed(value) if name.endswith("_id") and _is_ulid(value) else value
            for name, value in row.items()
        }


def _is_ulid(value):
    return isinstance(value, str) and len(value) == 26 and set(value) <= set(_DIGITS)


def _rows(connection, table, column=None, value=None):
    where = f" WHERE {column} = ?" if column else ""
    found = connection.execute(f"SELECT * FROM {table}{where}", (value,) if column else ())
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def _insert(connection, table, row):
    places = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", [*row.values()])
