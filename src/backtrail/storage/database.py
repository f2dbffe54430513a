"""Transactions: the only way from the services to the rows."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from backtrail.storage.connection.engine import for_reading, for_writing, place_of
from backtrail.storage.connection.failures import translated_errors
from backtrail.storage.repositories.checkpoints import CheckpointRepository
from backtrail.storage.repositories.corrections import CorrectionRepository
from backtrail.storage.repositories.decisions import DecisionRepository
from backtrail.storage.repositories.epochs import EpochRepository
from backtrail.storage.repositories.operations import OperationRepository
from backtrail.storage.repositories.plans import PlanRepository
from backtrail.storage.repositories.pruning import PruningRepository
from backtrail.storage.repositories.runs import RunRepository
from backtrail.storage.repositories.steps import StepRepository
from backtrail.storage.rows.mapping import Origin


class UnitOfWork:
    """The repositories of one transaction."""

    def __init__(self, session: Session, origin: Origin) -> None:
        self.plans = PlanRepository(session, origin)
        self.checkpoints = CheckpointRepository(session, origin)
        self.operations = OperationRepository(session, origin)
        self.epochs = EpochRepository(session)
        self.decisions = DecisionRepository(session)
        self.corrections = CorrectionRepository(session)
        self.pruning = PruningRepository(session, origin)
        self.steps = StepRepository(session)
        self.runs = RunRepository(session, origin)


class Database:
    """A database whose new rows belong to one store on one host."""

    def __init__(
        self,
        engine: Engine,
        *,
        store_id: str,
        host_id: str,
        check: Callable[[UnitOfWork], None] | None = None,
    ) -> None:
        self._engine = engine
        self._reading = for_reading(engine)
        self._writing = for_writing(engine, f"store {store_id}")
        self._origin = Origin(store_id, host_id)
        self._check = check
        self.place = place_of(engine)

    def fenced(self, check: Callable[[UnitOfWork], None]) -> Database:
        """The same for somebody whose right to write may end: asked inside every transaction."""
        return Database(self._engine, **self._origin._asdict(), check=check)

    def check(self) -> None:
        """Raise if the right to write has ended; for what is about to be written elsewhere."""
        if self._check is not None:
            with self.read() as uow:
                self._check(uow)

    @contextmanager
    def read(self) -> Generator[UnitOfWork]:
        """One consistent view of the rows; writing in it fails."""
        with translated_errors(self.place), Session(self._reading) as session:
            yield UnitOfWork(session, self._origin)

    @contextmanager
    def write(self) -> Generator[UnitOfWork]:
        """All changes or none; nobody else writes this store's rows until its end."""
        with translated_errors(self.place), Session(self._writing) as session:
            session.connection()  # begins the transaction now and not at the first query
            uow = UnitOfWork(session, self._origin)
            if self._check is not None:
                self._check(uow)
            yield uow
            session.commit()

    def close(self) -> None:
        self._engine.dispose()
