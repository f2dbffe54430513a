"""Every key of `plan.toml`: kind, default, meaning. A new one is a line here and a field there.

The field is in the section's class, which `backtrail.domain.settings` names; `config check`,
`config show` and the reference in the documentation follow from this table.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

from backtrail.config.branches import BRANCH_PREFIX
from backtrail.config.kinds import AGE, FLAG, PATH, PATTERNS, Kind, choice, choices, count, size
from backtrail.domain.capture import CaptureRules
from backtrail.domain.retention import CheckpointRetentionPolicy
from backtrail.domain.settings import (
    ApplySettings,
    ApplyStrategy,
    RollbackPolicy,
    SandboxSettings,
    StepSettings,
    TriggerSettings,
)
from backtrail.domain.tools import ToolCheckpoint, ToolDeclaration, Trigger

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a section."""

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class Section(Generic[S]):
    """A section, and the class that its values fill."""

    name: str
    made: type[S]
    meaning: str
    keys: tuple[Key, ...]

    def default(self, key: str) -> object:
        """What holds for a key that is not in the file."""
        made: Any = self.made
        return next(field.default for field in fields(made) if field.name == key)


RETENTION = Section(
    "retention",
    CheckpointRetentionPolicy,
    "How much is kept of plans that have no limits of their own (`plan policy` gives them some).",
    (
        Key("max_checkpoints", count(1), "Keep at most so many checkpoints."),
        Key("max_age", AGE, "Keep none that is older."),
        Key("max_bytes", size(), "Keep no more than this, all checkpoints together."),
        Key(
            "keep_recent",
            count(0),
            "Keep so many of the newest, as far as `max_checkpoints` has room.",
        ),
        Key("undo_depth", count(1), "Let so many rollbacks be undone."),
    ),
)
CAPTURE = Section(
    "capture",
    CaptureRules,
    "What a checkpoint holds.",
    (
        Key(
            "include_ignored",
            PATTERNS,
            'Ignored files that are captured all the same. `"default"` stands for small ones that '
            "people miss: `.env`, `.env.*`, `.envrc`, `*.local`, `*.local.*`, `*.tfvars`, "
            "`secrets.*`, `.npmrc`, `.pypirc`, `local.properties`, `CLAUDE.local.md`, "
            "`/.claude/settings.local.json`, and what `[sandbox] copy` and `.worktreeinclude` "
            "name, each of at most 1 MiB, together of at most 16 MiB. A list replaces that, unless "
            '`"default"` is in it; `[]` is none at all. '
            "A name without a slash is looked for "
            "in every directory that is not ignored itself; a path is looked for from the root, "
            "also in ignored directories, and means all files in it if it is a directory. "
            "Repositories inside the sandbox are directories like others. For a path that begins "
            "with a wild card every ignored directory is searched, at every checkpoint.",
        ),
        Key("max_file_size", size(), "Untracked files that are larger are not captured."),
    ),
)
ROLLBACK = Section(
    "rollback",
    RollbackPolicy,
    "May a plan be rolled back? What holds when a plan is created is kept with the plan; "
    "`plan policy` changes it.",
    (
        Key("allowed", FLAG, "`false`: rollback, undo, redo and corrections are refused."),
        Key(
            "require_confirmation",
            FLAG,
            "`true`: a rollback needs `--yes` or a person's answer. `false`: it is done at once.",
        ),
    ),
)
TRIGGERS = Section(
    "triggers",
    TriggerSettings,
    "When checkpoints are taken without being asked for.",
    (
        Key(
            "enabled",
            choices(Trigger),
            "The triggers that are on. An empty list: no automatic checkpoint at all, whatever "
            "`[tools]` says. `triggers = []` at the top of the file means the same.",
        ),
    ),
)
STEPS = Section(
    "steps",
    StepSettings,
    "What is kept of steps.",
    (
        Key(
            "max_output_bytes",
            size(least=0),
            "Keep so much output of a plan's steps, compressed; the oldest goes first.",
        ),
    ),
)
SANDBOX = Section(
    "sandbox",
    SandboxSettings,
    "Where and how sandboxes are made.",
    (
        Key(
            "root",
            PATH,
            "The directory that new sandboxes are made in; relative to the main checkout, or "
            "beginning with `~/`. By default `../REPOSITORY.plans`.",
        ),
        Key("branch_prefix", BRANCH_PREFIX, "What the branch of a plan is called before NAME."),
        Key(
            "copy",
            PATTERNS,
            "Ignored files that a new sandbox gets from the main checkout, such as `.env`.",
        ),
    ),
)
APPLY = Section(
    "apply",
    ApplySettings,
    "How the work of a plan is brought onto a branch.",
    (Key("strategy", choice(ApplyStrategy), "What `plan apply` does without `--strategy`."),),
)
TOOL = Section(
    "tools",
    ToolDeclaration,
    "What is known of one tool. A tool without a section follows the triggers.",
    (
        Key(
            "writes",
            FLAG,
            "`false`: the tool only reads; if it changes files all the same, that is said.",
        ),
        Key(
            "checkpoint",
            choice(ToolCheckpoint),
            "When `plan tool` takes a checkpoint of its calls, whatever the triggers say; after "
            "a failure `on_error` still counts. Without it: as the triggers say, and not at all "
            "for a tool that only reads.",
        ),
    ),
)
SECTIONS: tuple[Section[Any], ...] = (RETENTION, CAPTURE, ROLLBACK, TRIGGERS, STEPS, SANDBOX, APPLY)
"""Those that are there once; `[tools.NAME]` can be there for many names."""
