"""Things that an agent does to a tree of files, by the words that scenarios use for them."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from support.world.world import write_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BINARY = bytes(range(256)) * 8


def varied_tree(root: Path) -> None:
    """Untracked files of every kind beside the tracked ones of the repository."""
    write_files(
        root,
        {
            "run.sh": "#!/bin/sh\necho run\n",
            "dos.txt": b"one\r\ntwo\r\nmixed\n",
            "image.bin": BINARY,
            "empty": "",
            "folder/a.txt": "a\n",
            "folder/deep/b.txt": "b\n",
        },
    )
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("README.md")
    (root / "link to folder").symlink_to("folder")


def make(change: str, root: Path) -> None:
    CHANGES[change](root)


def _modify_tracked(root: Path) -> None:
    write_files(root, {"src/app.py": "print('changed by the agent')\n"})


def _modify_same_size(root: Path) -> None:
    write_files(root, {"README.md": "HELLO\n"})


def _add(root: Path) -> None:
    write_files(root, {"new.txt": "new\n", "newer/and/deeper.txt": "deep\n"})


def _delete_tracked(root: Path) -> None:
    (root / "README.md").unlink()


def _delete_untracked(root: Path) -> None:
    (root / "image.bin").unlink()


def _delete_all(root: Path) -> None:
    for entry in root.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != ".git":
            entry.unlink()


def _rename_file(root: Path) -> None:
    (root / "README.md").rename(root / "src" / "READ ME.txt")


def _rename_folder(root: Path) -> None:
    (root / "src").rename(root / "source")


def _rename_case(root: Path) -> None:
    (root / "README.md").rename(root / "Readme.md")


def _make_executable(root: Path) -> None:
    (root / "src" / "app.py").chmod(0o755)


def _make_not_executable(root: Path) -> None:
    (root / "run.sh").chmod(0o644)


def _point_link_elsewhere(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").symlink_to("nowhere/at all")


def _add_link(root: Path) -> None:
    (root / "src" / "link to outside").symlink_to("/etc")


def _file_to_folder(root: Path) -> None:
    (root / "README.md").unlink()
    write_files(root, {"README.md/inside.txt": "inside\n"})


def _folder_to_file(root: Path) -> None:
    shutil.rmtree(root / "folder")
    write_files(root, {"folder": "a file now\n"})


def _file_to_link(root: Path) -> None:
    (root / "README.md").unlink()
    (root / "README.md").symlink_to("src/app.py")


def _link_to_file(root: Path) -> None:
    (root / "link").unlink()
    write_files(root, {"link": "a file now\n"})


def _folder_to_link(root: Path) -> None:
    (root / "src").rename(root / "source")
    (root / "src").symlink_to("source")


def _folder_to_outside_link(root: Path) -> None:
    outside = root.parent / "outside"
    write_files(outside, {"a.txt": "not yours\n", "deep/b.txt": "not yours\n"})
    shutil.rmtree(root / "folder")
    (root / "folder").symlink_to(outside)


def _link_to_folder(root: Path) -> None:
    (root / "link to folder").unlink()
    write_files(root, {"link to folder/c.txt": "c\n"})


def _binary(root: Path) -> None:
    write_files(root, {"image.bin": BINARY[::-1], "src/app.py": b"\0\1\2\xff\n\r\n"})


def _line_ends(root: Path) -> None:
    write_files(root, {"dos.txt": "one\ntwo\nmixed\n", "README.md": b"hello\r\n"})


def _empty_files(root: Path) -> None:
    write_files(root, {"src/app.py": "", "empty": "full\n"})


def _odd_names(root: Path) -> None:
    odd = (
        b"-rf",
        b"a\nb",
        b'quo"ted',
        b"not utf-8 \xff",
        b"*",
        b":(top)x",
        b" ",
        b"\\",
        b"\xc3\xa9",
    )
    for name in odd:
        with open(os.path.join(os.fsencode(root), name), "wb") as file:
            file.write(name)


CHANGES: dict[str, Callable[[Path], None]] = {
    "edits a tracked file": _modify_tracked,
    "edits a file without changing its size": _modify_same_size,
    "adds files": _add,
    "deletes a tracked file": _delete_tracked,
    "deletes an untracked file": _delete_untracked,
    "deletes everything": _delete_all,
    "renames a file": _rename_file,
    "renames a folder": _rename_folder,
    "renames a file to other capitals": _rename_case,
    "makes a file executable": _make_executable,
    "makes a file not executable": _make_not_executable,
    "points a link elsewhere": _point_link_elsewhere,
    "adds a link": _add_link,
    "replaces a file by a folder": _file_to_folder,
    "replaces a folder by a file": _folder_to_file,
    "replaces a file by a link": _file_to_link,
    "replaces a link by a file": _link_to_file,
    "replaces a folder by a link to itself": _folder_to_link,
    "replaces a folder by a link to outside": _folder_to_outside_link,
    "replaces a link by a folder": _link_to_folder,
    "edits binary files": _binary,
    "changes line ends": _line_ends,
    "empties files": _empty_files,
    "adds files with odd names": _odd_names,
}
