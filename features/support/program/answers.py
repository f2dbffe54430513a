"""What an answer of the program must look like when it refuses."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from support.program.forked import run_forked

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from support.world.world import Ran, World

FORMATS = ("rich", "plain", "json")
ENVELOPE = (
    "schema_version", "command", "status", "exit_code", "data", "error", "timing", "messages",
)  # fmt: skip
ERROR = ("code", "message", "hint", "details")


def in_every_format(
    world: World,
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> dict[str, Ran]:
    """The answers to one command, by format."""
    return {
        name: run_forked(world, "--format", name, *arguments, cwd=cwd, env=env) for name in FORMATS
    }


def check_refusal(name: str, ran: Ran, code: int) -> None:
    """The documented code; one sentence and a hint; nothing of the program's insides."""
    assert ran.code == code, f"{name}: {ran}"
    assert "Traceback" not in ran.out + ran.err, f"{name}: {ran}"
    if name == "json":
        _check_envelope(ran, code)
    else:
        _check_lines(name, ran)


def _check_envelope(ran: Ran, code: int) -> None:
    assert ran.err == "", ran
    envelope = ran.json()
    assert tuple(envelope) == ENVELOPE, ran
    assert (envelope["schema_version"], envelope["status"]) == (1, "error"), ran
    assert (envelope["exit_code"], envelope["data"]) == (code, None), ran
    assert isinstance(envelope["messages"], list), ran
    assert datetime.fromisoformat(envelope["timing"]["started"]).tzinfo, ran
    assert envelope["timing"]["duration_ms"] >= 0, ran
    error = envelope["error"]
    assert tuple(error) == ERROR, ran
    assert error["code"].isidentifier(), ran
    assert isinstance(error["details"], dict), ran
    _check_sentence(error["message"])
    assert error["hint"], ran


def _check_lines(name: str, ran: Ran) -> None:
    assert ran.out == "", f"{name}: {ran}"
    lines = [line for line in ran.err.splitlines() if not line.startswith("  ")]
    errors = [line for line in lines if line.startswith("error: ")]
    hints = [line for line in lines if line.startswith("hint: ")]
    assert len(errors) == 1, f"{name}: {ran}"
    assert len(hints) == 1, f"{name}: {ran}"
    assert lines == errors + hints, f"{name}: {ran}"
    _check_sentence(errors[0].removeprefix("error: "))


def _check_sentence(sentence: str) -> None:
    assert sentence, "nothing is said"
    assert "\n" not in sentence, sentence
    assert not sentence.endswith("."), sentence
