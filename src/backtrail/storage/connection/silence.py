"""A PostgreSQL connection that does not wait for ever for a server of which nothing more comes.

The system's own limits do not help: where a server is stopped, or something between it and us has
fallen silent, its kernel still confirms every packet.
"""

from collections.abc import Generator
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen

RV = TypeVar("RV")


class SilentError(psycopg.OperationalError):
    """Nothing came for too long; the connection is closed."""


def connection_class(seconds: float) -> type[psycopg.Connection[Any]]:
    """Connections that are given up when nothing came for so long."""

    class Impatient(psycopg.Connection[Any]):
        """Waits for its server, but not for ever."""

        def wait(self, gen: PQGen[RV], *limits: Any, **more: Any) -> RV:  # noqa: ANN401 - psycopg's
            try:
                return super().wait(_impatient(gen, seconds), *limits, **more)
            except SilentError:
                # Without a word to the server, which would have to be waited for as well.
                self.pgconn.finish()
                raise

    return Impatient


def _impatient(gen: PQGen[RV], seconds: float) -> Generator[Any, Any, RV]:
    """The same dialogue with the server, which is looked after every tenth of a second."""
    heard = monotonic()
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                heard = monotonic()
            elif monotonic() - heard > seconds:
                raise SilentError(f"its server said nothing for {seconds:g} seconds")
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value
