"""A spinner on a terminal while long work goes on; silent everywhere else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from backtrail.cli.output.streams import is_terminal
from backtrail.cli.output.text import safe

if TYPE_CHECKING:
    from rich.status import Status


class Progress:
    """Shows the newest stage; leaves no trace once stopped."""

    def __init__(self) -> None:
        self.wanted = True
        self._status: Status | None = None

    def show(self, stage: str) -> None:
        if not self.wanted or not is_terminal(sys.stderr):
            return
        from rich.text import Text

        text = Text(f"{safe(stage)} …", style="dim")
        if self._status is None:
            from rich.console import Console

            self._status = Console(stderr=True).status(text)
            self._status.start()
        else:
            self._status.update(text)

    def stop(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
