"""Named places between protocol steps where a test may let the process die."""

from typing import Protocol


class Failpoints(Protocol):
    """Something that is told whenever a protocol passes a named place."""

    def reach(self, name: str) -> None: ...


class NoFailpoints:
    """The one for normal use: passing costs a method call and does nothing."""

    def reach(self, name: str) -> None:
        del name


NO_FAILPOINTS = NoFailpoints()
