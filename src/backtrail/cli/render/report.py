"""The one result object of a command, from which every format is rendered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from backtrail.cli.render.look import table, text

if TYPE_CHECKING:
    from rich.console import RenderableType


_T = TypeVar("_T")


class Value(StrEnum):
    """The single values that `--print` can ask for."""

    ID = "id"
    PATH = "path"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a command has to say; nothing is rendered before the format is known."""

    data: Mapping[str, Any]
    plain: Callable[[], Iterable[str]]
    rich: Callable[[bool], Iterable[RenderableType]] | None = None
    """Takes whether to be verbose. None: the plain lines are the best there is."""
    raw: str | None = None
    """Replaces the plain lines; reaches a pipe byte for byte, for programs that read it."""
    values: Mapping[Value, str | None] = field(default_factory=dict[Value, "str | None"])
    messages: tuple[str, ...] = ()
    exit_code: int = 0
    silenced_by_quiet: bool = False
    """True for commands whose deed matters more than their words."""
    value_only: bool = False
    """`--print` was given: its value alone is printed, whatever the format."""

    def only(self, value: Value | None) -> Report:
        """The same report reduced to one value, if one was asked for."""
        if value is None:
            return self
        return replace(
            self,
            raw=f"{self.values.get(value) or ''}\n",
            rich=None,
            silenced_by_quiet=False,
            value_only=True,
        )


def listing(
    data: Mapping[str, Any],
    items: Sequence[_T],
    *,
    line: Callable[[_T], str],
    row: Callable[[_T], Sequence[RenderableType]],
    titles: Sequence[str],
    more: Sequence[str] = (),
    none: str,
) -> Report:
    """Things of one kind: a line of each for scripts, a row of each for people.

    Columns that only `-v` shows are named by `more` and stand last; `none` is what is said to
    people if there is nothing.
    """

    def rich(verbose: bool) -> Iterator[RenderableType]:
        names = [*titles, *(more if verbose else ())]
        if items:
            yield table(names, (row(item)[: len(names)] for item in items))
        else:
            yield text(none, "dim")

    return Report(data=data, plain=lambda: map(line, items), rich=rich)


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, in the words of the envelope's `error`."""

    exit_code: int
    code: str
    message: str
    hint: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    data: Mapping[str, Any] | None = None
    """What was done all the same, if a command did something before it failed."""
    messages: tuple[str, ...] = ()
