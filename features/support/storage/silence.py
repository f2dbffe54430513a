"""Something between the program and its server that can fall silent, and keeps every connection."""

from __future__ import annotations

import select
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_LOOK_SECONDS = 0.02


class Proxy:
    """Passes everything on until a file says that it has fallen silent."""

    def __init__(self, server: Path, silent: Path) -> None:
        self._server, self._silent = server, silent
        self._ended = threading.Event()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def fall_silent(self) -> None:
        self._silent.touch()

    def speak_again(self) -> None:
        self._silent.unlink(missing_ok=True)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        for each in (self._door, *self._pairs):
            each.close()

    def _run(self) -> None:
        while not self._ended.wait(0):
            ready, _, _ = select.select([self._door, *self._pairs], [], [], _LOOK_SECONDS)
            if self._silent.exists():
                # The system goes on to confirm what comes, as it does for a stopped server.
                self._ended.wait(_LOOK_SECONDS)
                continue
            for each in ready:
                if each is self._door:
                    self._let_in()
                elif each in self._pairs:
                    self._pass_on(each)

    def _let_in(self) -> None:
        client, _ = self._door.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(self._server))
        self._pairs[client], self._pairs[server] = server, client

    def _pass_on(self, source: socket.socket) -> None:
        try:
            content = source.recv(65536)
            self._pairs[source].sendall(content)
        except OSError:
            content = b""
        if not content:
            for each in (self._pairs.pop(source), source):
                self._pairs.pop(each, None)
                each.close()
