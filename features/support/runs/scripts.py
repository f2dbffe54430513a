"""Scripts made of steps: every command counts its own runs in a file outside the sandbox."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from support.program.forked import run_forked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from support.world.world import Ran, World

# $0 is the key of the step. Who sets DEADLY kills the program that waits for the command.
_COUNT = 'printf "%s\\0" "$0" >>"$COUNTED"; [ -z "$DEADLY" ] || kill -9 $PPID; '
USUAL = 'echo "$0" >>steps.txt; echo "out of $0"; echo "err of $0" >&2'
# Does not begin like an answer in JSON, which would be held against its schema.
RANDOM = "printf -; head -c 999 /dev/urandom"


def _nothing() -> None:
    return


@dataclass(slots=True)
class Script:
    """Steps of plan `auth`, each of them run by a process of its own."""

    world: World
    bodies: dict[str, tuple[str, tuple[str, ...]]] = field(
        default_factory=dict[str, "tuple[str, tuple[str, ...]]"]
    )
    said: dict[str, list[Ran]] = field(default_factory=dict[str, "list[Ran]"])

    @property
    def counted(self) -> Path:
        return self.world.home / "counted"

    def run(
        self,
        key: str,
        body: str = USUAL,
        options: tuple[str, ...] = (),
        *,
        env: Mapping[str, str] | None = None,
        failpoints: Failpoints = NO_FAILPOINTS,
        before: Callable[[], None] = _nothing,
    ) -> Ran:
        """One line of the script."""
        self.bodies[key] = body, options
        command = ("sh", "-c", _COUNT + body, key)
        ran = run_forked(
            self.world,
            *("run", "auth", f"--step={key}", *options, "--", *command),
            env={"COUNTED": str(self.counted), **(env or {})},
            failpoints=failpoints,
            before=before,
        )
        self.said.setdefault(key, []).append(ran)
        return ran

    def again(self, key: str) -> Ran:
        """The line of that key, as it was."""
        return self.run(key, *self.bodies[key])

    def times(self, key: str) -> int:
        """How often the command of a step ran."""
        if not self.counted.exists():
            return 0
        words = self.counted.read_bytes().decode("utf-8", "surrogateescape").split("\0")
        return words.count(key)

    def listed(self, *options: str) -> list[dict[str, Any]]:
        ran = run_forked(self.world, "steps", "auth", "--format", "json", *options)
        return ran.ok().json()["data"]["steps"]

    def statuses(self) -> list[str]:
        return [f"{step['key']} {step['status']}" for step in self.listed()]


def script_of(context: Any) -> Script:
    """The scenario's script; there is one of them."""
    if not hasattr(context, "script"):
        context.script = Script(context.world)
    return context.script
