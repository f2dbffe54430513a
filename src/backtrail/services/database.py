"""DatabaseService: where the rows are and whether their schema fits this program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.storage.connection.address import database_address, database_files, database_place
from backtrail.storage.connection.engine import create_database_engine
from backtrail.storage.connection.schema import (
    HEAD_REVISION,
    SchemaState,
    ensure_schema,
    schema_status,
)

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class DatabaseStatus:
    location: str
    revision: str | None
    head: str
    state: str


class DatabaseService:
    """Looks at the database without changing it, and upgrades it when asked."""

    def __init__(self, url: str | Path) -> None:
        self._url = url

    def location(self) -> str:
        """The path of the file, or the URL without its password."""
        return database_place(database_address(self._url))

    def status(self) -> DatabaseStatus:
        if any(not file.exists() for file in database_files(self._url)):
            return DatabaseStatus(self.location(), None, HEAD_REVISION, SchemaState.EMPTY)
        engine = create_database_engine(self._url)
        try:
            found = schema_status(engine)
        finally:
            engine.dispose()
        return DatabaseStatus(self.location(), found.revision, found.head, found.state)

    def upgrade(self) -> DatabaseStatus:
        engine = create_database_engine(self._url)
        try:
            ensure_schema(engine)
        finally:
            engine.dispose()
        return self.status()
