"""From rows to domain values and back; nothing above storage/ ever sees a row.

A field is in the column of its name, or of its name with `_json`. What differs is said once, in
the mappers below. A field without a column is an error as soon as this module is imported, and a
column that is neither a field nor given beside the value when a row is made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from sqlalchemy import FromClause
from sqlalchemy.orm import InstrumentedAttribute, Mapped

from backtrail.domain.checkpoint import Checkpoint
from backtrail.domain.correction import Correction
from backtrail.domain.decision import Decision
from backtrail.domain.ids import PlanId
from backtrail.domain.operation import Operation
from backtrail.domain.plan import Plan, Sandbox
from backtrail.domain.run import Lease, Run, RunOptions
from backtrail.domain.step import Mark, Outcome, OutputState, Result, Step, StepName
from backtrail.domain.timeline import Epoch
from backtrail.storage.rows.tables import (
    CheckpointRow,
    CorrectionRow,
    DecisionRow,
    EpochRow,
    OperationRow,
    PlanRow,
    RunRow,
    SandboxRow,
    StepMarkRow,
    StepRow,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class Origin(NamedTuple):
    """Which store and which host a row belongs to."""

    store_id: str
    host_id: str


class AnyRow(Protocol):
    """What all row classes have."""

    __table__: ClassVar[FromClause]
    plan_id: Mapped[PlanId]


RowT = TypeVar("RowT", bound=AnyRow)
ValueT = TypeVar("ValueT", bound="DataclassInstance")
_Column = InstrumentedAttribute[Any]
Columns = tuple[_Column, ...]


@dataclass(frozen=True, slots=True)
class _Stored:
    """How a field comes out of a row, and which columns it becomes."""

    load: Callable[[Any], Any]
    dump: Callable[[Any], dict[str, Any]]


def _as_it_is(column: str) -> _Stored:
    return _Stored(attrgetter(column), lambda value: {column: value})


def _in(column: _Column) -> _Stored:
    """In a column of another name."""
    return _as_it_is(column.key)


def _converted(column: _Column, load: Callable[[Any], Any], dump: Callable[[Any], Any]) -> _Stored:
    read, name = attrgetter(column.key), column.key
    return _Stored(lambda row: load(read(row)), lambda value: {name: dump(value)})


def _spread(
    columns: Columns, load: Callable[..., Any], dump: Callable[[Any], tuple[Any, ...]]
) -> _Stored:
    """A value of several columns."""
    names = [column.key for column in columns]
    read = attrgetter(*names)
    return _Stored(
        lambda row: load(*read(row)), lambda value: dict(zip(names, dump(value), strict=True))
    )


class Mapper(Generic[RowT, ValueT]):
    """The rows of one table as values; fields that are `elsewhere` are not of this table."""

    def __init__(
        self,
        row: type[RowT],
        value: type[ValueT],
        *,
        elsewhere: Collection[str] = (),
        **exceptions: _Stored,
    ) -> None:
        self.row = row
        self.value = value
        names = {field.name for field in fields(value)} - {*elsewhere, *exceptions}
        self._stored = {name: _as_it_is(_named(row.__table__, name)) for name in names} | exceptions
        self._loads = [(name, stored.load) for name, stored in self._stored.items()]

    def value_of(self, row: RowT, **elsewhere: object) -> ValueT:
        found = {name: load(row) for name, load in self._loads}
        return self.value(**found, **elsewhere)

    def row_of(self, value: ValueT, **others: object) -> RowT:
        """A new row; `others` are what it has besides, or instead."""
        given = {name: getattr(value, name) for name in self._stored}
        return self.row(**self._columns(given) | others)

    def assign(self, row: RowT, given: Mapping[str, Any]) -> None:
        """Let some fields of the value that the row holds be these."""
        for column, value in self._columns(given).items():
            setattr(row, column, value)

    def _columns(self, given: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in given.items():
            found |= self._stored[name].dump(value)
        return found


def columns_of(row: type[AnyRow], fields_of: type[DataclassInstance]) -> Columns:
    """The columns that a part of a value is read from, in the order of its fields."""
    names = (field.name for field in fields(fields_of))
    return tuple(getattr(row, name) for name in names if name in row.__table__.columns)


def _named(table: FromClause, field: str) -> str:
    return table.columns[field if field in table.columns else f"{field}_json"].name


def _result_of(
    outcome: Outcome | None,
    exit_code: int | None,
    value: Mapping[str, Any] | None,
    output: OutputState | None,
    output_bytes: int | None,
) -> Result | None:
    if outcome is None:
        return None
    return Result(outcome, exit_code, value or {}, output or OutputState.NONE, output_bytes or 0)


def _result_columns(result: Result | None) -> tuple[Any, ...]:
    if result is None:
        return (None,) * len(_RESULT)
    value = dict(result.value) or None
    return result.outcome, result.exit_code, value, result.output, result.output_bytes


_RESULT = (
    StepMarkRow.outcome,
    StepMarkRow.exit_code,
    StepMarkRow.value_json,
    StepMarkRow.output,
    StepMarkRow.output_bytes,
)

PLANS = Mapper(
    PlanRow,
    Plan,
    elsewhere=("sandbox",),
    policy=_converted(PlanRow.policy_json, lambda kept: kept or {}, lambda policy: policy or None),
)
SANDBOXES = Mapper(
    SandboxRow,
    Sandbox,
    elsewhere=("inode",),
    path=_converted(SandboxRow.path, Path, str),
    git_dir=_converted(SandboxRow.git_dir, Path, str),
)
CHECKPOINTS = Mapper(CheckpointRow, Checkpoint)
OPERATIONS = Mapper(OperationRow, Operation)
EPOCHS = Mapper(
    EpochRow,
    Epoch,
    number=_in(EpochRow.epoch),
    parent=_in(EpochRow.parent_epoch),
    cut=_in(EpochRow.cut_position),
)
DECISIONS = Mapper(DecisionRow, Decision)
CORRECTIONS = Mapper(CorrectionRow, Correction)
RUNS = Mapper(
    RunRow,
    Run,
    lease=_spread((RunRow.lease_until, RunRow.lease_clock), Lease, attrgetter("until", "clock")),
    options=_converted(RunRow.options_json, RunOptions.from_json, RunOptions.as_json),
)
STEPS = Mapper(
    StepRow,
    Step,
    name=_spread((StepRow.key, StepRow.ordinal), StepName, attrgetter("key", "ordinal")),
)
MARKS = Mapper(StepMarkRow, Mark, result=_spread(_RESULT, _result_of, _result_columns))
