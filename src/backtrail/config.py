"""`plan.toml` at the root of the repository, read into frozen values; whatever it says is checked.

Unknown names are an error: a setting that is silently not obeyed is worse than none.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from backtrail.domain.capture import DEFAULT_MAX_FILE_SIZE, CaptureRules
from backtrail.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

FILE_NAME = "plan.toml"
_SECTIONS = ("capture",)
_CAPTURE = ("include_ignored", "max_file_size")
_SIZE = re.compile(r"(\d+)\s*(?:(B|[KMGT]i?B?))?", re.IGNORECASE)
_UNITS = {"": 1, "B": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}


@dataclass(frozen=True, slots=True)
class Configuration:
    """Everything that `plan.toml` can say."""

    capture: CaptureRules = field(default_factory=CaptureRules)


def read_configuration(root: Path) -> Configuration:
    """The configuration of the repository whose main checkout is at `root`."""
    path = root / FILE_NAME
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return Configuration()
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{str(path)!r} is not valid TOML: {str(error).splitlines()[0]}",
            hint="correct the file, or move it away",
        ) from error
    _check_names(path, "", document, _SECTIONS)
    return Configuration(capture=_capture(path, _table(path, document, "capture")))


def _capture(path: Path, table: Mapping[str, Any]) -> CaptureRules:
    _check_names(path, "capture.", table, _CAPTURE)
    return CaptureRules(
        include_ignored=_patterns(path, "capture.include_ignored", table),
        max_file_size=_size(path, "capture.max_file_size", table),
    )


def _table(path: Path, document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = document.get(name, {})
    if not isinstance(found, dict):
        raise UsageError(f"{str(path)!r}: {name} must be a section", hint=f"write [{name}]")
    return cast("dict[str, Any]", found)


def _check_names(path: Path, prefix: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
    for name in table:
        if name not in known:
            nearest = difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)[0]
            raise UsageError(
                f"{str(path)!r}: {prefix}{name} is not a setting",
                hint=f"the nearest one is {prefix}{nearest}",
                details={"file": str(path), "key": f"{prefix}{name}"},
            )


def _patterns(path: Path, key: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    found = table.get(key.rpartition(".")[2], [])
    if not isinstance(found, list) or not all(map(_is_pattern, cast("list[object]", found))):
        raise UsageError(
            f"{str(path)!r}: {key} must be a list of patterns",
            hint='for instance [".env", "data/*.sqlite"]; a pattern cannot begin with ! or #',
        )
    return tuple(cast("list[str]", found))


def _is_pattern(value: object) -> bool:
    return (
        isinstance(value, str)
        and bool(value.strip("/ "))
        and value[0] not in "!#"
        and not any(c in value for c in "\0\n")
        and ".." not in value.split("/")
    )


def _size(path: Path, key: str, table: Mapping[str, Any]) -> int:
    found: object = table.get(key.rpartition(".")[2], DEFAULT_MAX_FILE_SIZE)
    if isinstance(found, int) and not isinstance(found, bool) and found > 0:
        return found
    match = _SIZE.fullmatch(found.strip()) if isinstance(found, str) else None
    if match is None or not int(match[1]):
        raise UsageError(
            f"{str(path)!r}: {key} must be a size",
            hint='a number of bytes, or text such as "100 MiB"',
        )
    return int(match[1]) * _UNITS[(match[2] or "")[:1].upper()]
