"""One cache of compiled SQL for all the databases that this process and its forks open.

SQLAlchemy compiles each statement once for each database, and every scenario has one of its own:
without this, a good part of the features' time would be spent in compiling the same statements.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, event

from backtrail.bootstrap import open_services

if TYPE_CHECKING:
    from sqlalchemy import Connection


class SharedStatements(dict[Any, Any]):
    """Keeps statements by the kind of the database, where SQLAlchemy's keys name the engine's."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_shared(key), default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        super().__setitem__(_shared(key), compiled)


def _shared(key: Any) -> Any:
    dialect, *rest = key
    return (dialect.name, dialect.driver, *rest)


STATEMENTS = SharedStatements()


def share() -> None:
    """Let every database that is opened from here on use the one cache."""
    if not event.contains(Engine, "engine_connect", _use):
        event.listen(Engine, "engine_connect", _use)


def _use(connection: Connection) -> None:
    connection.execution_options(compiled_cache=STATEMENTS)


def warm_up() -> None:
    """Do everything once, so that forks find loaded and compiled what they need."""
    share()
    with TemporaryDirectory(prefix="bt warm ") as home:
        repository = Path(home) / "repository"
        subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
        services = open_services(repository, {"HOME": home}, command_line="warm-up")
        try:
            plan = services.plans.create("warm", sandbox=repository).plan.plan_id
            services.checkpoints.rollback_to_checkpoint(plan, "first")
            services.checkpoints.undo(plan)
        finally:
            services.close()
