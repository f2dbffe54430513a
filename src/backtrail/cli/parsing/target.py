"""Which plan and which checkpoint a command line means, when PLAN may be left out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.domain.errors import AmbiguousError, NotFoundError, RefusedError, UsageError

if TYPE_CHECKING:
    from backtrail.bootstrap import Services
    from backtrail.cli.invocation.session import Session
    from backtrail.domain.plan import Plan


_HINT = "name a plan (-p PLAN works everywhere), set PLAN_ID, or work inside a sandbox"


@dataclass(frozen=True, slots=True)
class Finder:
    """Finds the plan of one command."""

    session: Session
    services: Services
    option: str | None = None
    destructive: bool = False
    removed: bool = False
    """Whether a name may be that of a plan that was removed."""

    def plan(self, argument: str | None = None) -> Plan:
        """The plan that is named, else the one that is known from the surroundings."""
        if argument is not None and self.option is not None:
            raise UsageError("the plan is given twice", hint="use the argument or -p, not both")
        plan = self._named(argument) or self._known()
        if plan is None:
            raise UsageError("it is not clear which plan is meant", hint=_HINT)
        return plan

    def plan_and_words(self, words: Sequence[str], most: int) -> tuple[Plan, list[str]]:
        """The plan, and the words after it.

        The first word is the plan if there are more words than the command needs, or if no plan
        is known without it.
        """
        if len(words) > most + (self.option is None):
            raise UsageError(
                f"there are too many arguments: {' '.join(words)}",
                hint="--help after the command shows what it takes",
            )
        if len(words) > most:
            return self.plan(words[0]), list(words[1:])
        plan = self._named(None) or self._known()
        if plan is not None:
            return plan, list(words)
        return self._first_word(words), list(words[1:])

    def plan_and_many(self, words: Sequence[str]) -> tuple[Plan, list[str]]:
        """The plan, and any number of words after it.

        With several words the first is the plan if a plan has that very name; `-p` leaves no doubt.
        """
        if self.option is None and len(words) > 1 and self._names_a_plan(words[0]):
            return self.plan(words[0]), list(words[1:])
        return self.plan_and_words(words, most=max(1, len(words)))

    def _names_a_plan(self, word: str) -> bool:
        if all(plan.name != word for plan in self.services.plans.list_plans()):
            return False
        around = self.services.plans.containing(self.session.start)
        labels = self.services.checkpoints.list_checkpoints(around.plan_id) if around else ()
        if around and any(checkpoint.label == word for checkpoint in labels):
            raise AmbiguousError(
                f"{word!r} is a plan, and a checkpoint of plan {around.name!r}, too",
                hint="-p PLAN before the checkpoints says which plan is meant",
            )
        return True

    def _first_word(self, words: Sequence[str]) -> Plan:
        try:
            return self.plan(words[0] if words else None)
        except NotFoundError as error:
            hint = "no plan is known here, so the first word must name one"
            raise NotFoundError(error.message, hint=hint, details=error.details) from error

    def _named(self, argument: str | None) -> Plan | None:
        name = argument if argument is not None else self.option
        if name is None:
            return None
        return self.services.plans.resolve(name, removed=self.removed)

    def _known(self) -> Plan | None:
        named = self._from_environment()
        around = self.services.plans.containing(self.session.start)
        if named is None or around is None or named.plan_id == around.plan_id:
            return named or around
        sentence = f"PLAN_ID names plan {named.name}, but this is the sandbox of plan {around.name}"
        if self.destructive:
            raise RefusedError(sentence, hint=f"say which one: -p {named.name} or -p {around.name}")
        self.session.messages.append(f"{sentence}; {named.name} is used")
        return named

    def _from_environment(self) -> Plan | None:
        name = self.session.environ.get("PLAN_ID")
        if not name:
            return None
        try:
            return self.services.plans.resolve(name)
        except NotFoundError as error:
            raise NotFoundError(
                f"PLAN_ID names {name!r}, and there is no such plan",
                hint="correct or unset PLAN_ID, or name a plan",
                details=error.details,
            ) from error


def sandbox_paths(session: Session, plan: Plan, given: Sequence[str]) -> list[str]:
    """`--path` values relative to the sandbox, as git writes them."""
    root = Path(os.path.realpath(plan.sandbox.path))
    start = Path(os.path.realpath(session.start))
    base = start if start.is_relative_to(root) else root
    return [_sandbox_path(root, base, text) for text in given]


def _sandbox_path(root: Path, base: Path, text: str) -> str:
    # Links below the root stay unresolved: the path may be one, or may have been a directory once.
    # An absolute path, though, may reach the root itself through a link.
    lexical = Path(os.path.normpath(base / text))
    physical = Path(os.path.realpath(lexical.parent)) / lexical.name
    for candidate in (lexical, physical):
        if text and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    raise UsageError(
        f"the path {text!r} is not inside the sandbox",
        hint=f"the sandbox is {root}",
    )
