"""DatabaseService: where the rows are and whether their schema fits this program."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.storage.engine import create_database_engine
from backtrail.storage.schema import HEAD_REVISION, SchemaState, ensure_schema, schema_status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    location: str
    revision: str | None
    head: str
    state: str


class DatabaseService:
    """Looks at the database without changing it, and upgrades it when asked."""

    def __init__(
        self, url: str | Path, location: str, lock: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self._url = url
        self._location = location
        self._lock = lock

    def location(self) -> str:
        return self._location

    def status(self) -> DatabaseStatus:
        if not isinstance(self._url, str) and not self._url.exists():
            return DatabaseStatus(self._location, None, HEAD_REVISION, SchemaState.EMPTY)
        engine = create_database_engine(self._url)
        try:
            found = schema_status(engine)
        finally:
            engine.dispose()
        return DatabaseStatus(self._location, found.revision, found.head, found.state)

    def upgrade(self) -> DatabaseStatus:
        engine = create_database_engine(self._url)
        try:
            ensure_schema(engine, self._lock)
        finally:
            engine.dispose()
        return self.status()
