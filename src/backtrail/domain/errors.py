"""Errors that a user may see: each carries its exit code, a stable code word and a hint."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, ClassVar


class ExitCode(IntEnum):
    """The documented exit codes of the command line."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    AMBIGUOUS = 4
    REFUSED = 5
    NOT_CONFIRMED = 6
    SANDBOX_INVALID = 7
    BUSY = 8
    GIT_FAILED = 9
    STORAGE_FAILED = 10
    VERIFICATION_FAILED = 11
    APPLY_CONFLICT = 12
    DEFECT = 70
    TIMED_OUT = 124
    NOT_RUN = 125
    NOT_EXECUTABLE = 126
    COMMAND_NOT_FOUND = 127
    INTERRUPTED = 130


class BacktrailError(Exception):
    """A failure that is told to the user in one sentence, with a hint where one helps."""

    exit_code: ClassVar[ExitCode] = ExitCode.FAILED
    code: ClassVar[str] = "failed"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, Any] = dict(details or {})


class FailedError(BacktrailError):
    """Failed in an expected way."""


class UsageError(BacktrailError):
    """The command line or the configuration is wrong."""

    exit_code = ExitCode.USAGE
    code = "usage"


class NotFoundError(BacktrailError):
    """What was named does not exist."""

    exit_code = ExitCode.NOT_FOUND
    code = "not_found"


class NoPlansYetError(NotFoundError):
    """The repository has never had a plan."""


class AmbiguousError(BacktrailError):
    """What was named matches more than one thing."""

    exit_code = ExitCode.AMBIGUOUS
    code = "ambiguous"


class RefusedError(BacktrailError):
    """A guard said no; nothing was changed."""

    exit_code = ExitCode.REFUSED
    code = "refused"


class NotConfirmedError(BacktrailError):
    """The user did not confirm; nothing was changed."""

    exit_code = ExitCode.NOT_CONFIRMED
    code = "not_confirmed"


class SandboxInvalidError(BacktrailError):
    """The sandbox is missing, replaced or not ours."""

    exit_code = ExitCode.SANDBOX_INVALID
    code = "sandbox_invalid"


class SandboxGoneError(SandboxInvalidError):
    """The sandbox was moved, deleted or pruned; `plan restore` can bring it back."""


class BusyError(BacktrailError):
    """Another process holds what is needed."""

    exit_code = ExitCode.BUSY
    code = "busy"


class LeaseLostError(BusyError):
    """Another process has taken a run over: this one writes nothing more about it."""


class GitFailedError(BacktrailError):
    """Git did not do what was asked."""

    exit_code = ExitCode.GIT_FAILED
    code = "git_failed"


class NoSpaceError(GitFailedError):
    """Git could not write for want of room."""


class StorageError(BacktrailError):
    """The database cannot be used."""

    exit_code = ExitCode.STORAGE_FAILED
    code = "storage_failed"


class VerificationFailedError(BacktrailError):
    """The result is not what was asked for."""

    exit_code = ExitCode.VERIFICATION_FAILED
    code = "verification_failed"


class RunAbortedError(BacktrailError):
    """Somebody asked for the end of the run that this code is a part of."""

    exit_code = ExitCode.INTERRUPTED
    code = "interrupted"


class ApplyConflictError(BacktrailError):
    """The plan and its target changed the same places; nothing was changed."""

    exit_code = ExitCode.APPLY_CONFLICT
    code = "apply_conflict"
