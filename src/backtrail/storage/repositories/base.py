"""What repositories share: rows become values, and ids are found by their beginning."""

import re
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, false, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backtrail.domain.errors import NotFoundError
from backtrail.domain.ids import PlanId
from backtrail.domain.reference import ULID_LENGTH
from backtrail.storage.rows.mapping import Mapper, RowT, ValueT
from backtrail.storage.rows.tables import PlanRow

IdT = TypeVar("IdT", bound=str)
LargeT = TypeVar("LargeT", bound=int | str)
_PREFIX = re.compile(rf"[0-9A-Z]{{1,{ULID_LENGTH}}}")


class Repository(Generic[RowT, ValueT, IdT]):
    """Values of one kind of one transaction, each with an id of its own."""

    def __init__(
        self,
        session: Session,
        mapper: Mapper[RowT, ValueT],
        key: InstrumentedAttribute[IdT],
    ) -> None:
        self._session = session
        self._mapper = mapper
        self._key = key

    def newest_id(self, plan_id: PlanId) -> IdT | None:
        """The largest id of the plan, which the next one must exceed."""
        return self._largest(self._key, plan_id)

    def by_prefix(self, plan_id: PlanId, prefix: str, limit: int) -> list[ValueT]:
        """Those of the plan whose id begins so, oldest first."""
        query = self._of(plan_id).where(starts_with(self._key, prefix))
        return self._all(query.order_by(self._key).limit(limit))

    def by_id_any_plan(self, repository_id: str, prefix: str) -> ValueT | None:
        """One of any plan of the repository whose id is, or begins with, the prefix."""
        row = self._mapper.row
        query = (
            select(row)
            .join(PlanRow, PlanRow.plan_id == row.plan_id)
            .where(PlanRow.repository_id == repository_id)
            .where(starts_with(self._key, prefix))
        )
        return self._first(query.order_by(self._key).limit(1))

    def _insert(self, value: ValueT, **others: object) -> None:
        self._session.add(self._mapper.row_of(value, **others))
        self._session.flush()

    def _get(self, key: IdT) -> ValueT | None:
        row = self._session.get(self._mapper.row, key)
        return None if row is None else self._mapper.value_of(row)

    def _row(self, key: IdT) -> RowT:
        row = self._session.get(self._mapper.row, key)
        if row is None:
            raise NotFoundError(f"there is no {self._mapper.value.__name__.lower()} {key}")
        return row

    def _change(self, key: IdT, /, **fields: object) -> None:
        """Let some fields of a value be these."""
        self._mapper.assign(self._row(key), fields)
        self._session.flush()

    def _of(self, plan_id: PlanId) -> Select[RowT]:
        return select(self._mapper.row).where(self._mapper.row.plan_id == plan_id)

    def _largest(self, column: InstrumentedAttribute[LargeT], plan_id: PlanId) -> LargeT | None:
        query = select(func.max(column)).where(self._mapper.row.plan_id == plan_id)
        return self._session.scalar(query)

    def _next(self, column: InstrumentedAttribute[int], plan_id: PlanId) -> int:
        return (self._largest(column, plan_id) or 0) + 1

    def _all(self, query: Select[RowT]) -> list[ValueT]:
        return [self._mapper.value_of(row) for row in self._session.scalars(query)]

    def _first(self, query: Select[RowT]) -> ValueT | None:
        return next(iter(self._all(query)), None)


def starts_with(column: InstrumentedAttribute[Any], prefix: str) -> ColumnElement[bool]:
    """Whether an id begins with the prefix, in either case.

    LIKE would not use the index on either database; a range of full-length ids does.
    """
    prefix = prefix.upper()
    if not _PREFIX.fullmatch(prefix):
        return false()
    return column.between(prefix.ljust(ULID_LENGTH, "0"), prefix.ljust(ULID_LENGTH, "Z"))
