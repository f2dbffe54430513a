"""The beginning of a branch's name, as `plan.toml` may give it."""

from __future__ import annotations

import re

from backtrail.config.kinds import Kind, WrongValueError

_LONGEST = 100
_PREFIX = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*")


def _branch_prefix(value: object) -> str:
    """Text that git takes at the beginning of a branch's name, whatever plan name follows."""
    if not isinstance(value, str) or not _PREFIX.fullmatch(value) or len(value) > _LONGEST:
        raise WrongValueError
    *parts, rest = value.split("/")
    whole = all(part and not part.endswith((".", ".lock")) for part in parts)
    if not whole or ".." in value or rest.endswith(".") or "/." in value:
        raise WrongValueError
    return value


BRANCH_PREFIX = Kind(
    "the beginning of a branch name",
    'for instance "work/" or "plan-"; letters, digits, ".", "_", "-" and "/"',
    _branch_prefix,
)
