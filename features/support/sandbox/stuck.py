"""Merges, rebases and the like that have stopped half-way, and how each of them can go on."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.world.world import write_files

if TYPE_CHECKING:
    from pathlib import Path

    from support.world.world import Ran, World

# In every repository the same ids, so that a twin's commits can be told by them.
_STILL = {
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_AUTHOR_DATE": "@1700000000 +0000",
    "GIT_COMMITTER_DATE": "@1700000000 +0000",
}
_EDIT_EACH = {"GIT_SEQUENCE_EDITOR": "sed -i s/^pick/edit/"}
_MINE = {"README.md": "ours\n", "two.txt": "two\n", "three.txt": "three\n"}
_THEIRS = {"README.md": "theirs\n", "four.txt": "four\n", "five.txt": "five\n"}


@dataclass(frozen=True, slots=True)
class Work:
    """How it begins and stops, how it goes on to its end, and how it is given up."""

    begin: str
    go_on: tuple[str, ...]
    abort: str
    edit_each: bool = False
    before: tuple[str, ...] = ()


_RESOLVE = ("resolve", "add --all")
_REBASE = (*_RESOLVE, "rebase --continue")
WORKS = {
    "a merge with a conflict": Work(
        "merge theirs", (*_RESOLVE, "commit --no-edit"), "merge --abort"
    ),
    "a merge of three branches that is not committed": Work(
        "merge --no-commit fourth fifth", ("commit --no-edit",), "reset --merge"
    ),
    "a merge of a tag, with a message of its own": Work(
        "merge --no-ff --no-commit -m mine v1", ("commit --no-edit",), "merge --abort"
    ),
    "a merge with work set aside": Work(
        "merge --autostash theirs", (*_RESOLVE, "commit --no-edit"), "merge --abort",
        before=("edit",),
    ),
    "a merge that is squashed": Work(
        "merge --squash fourth", ("commit --no-edit",), "reset --hard"
    ),
    "an interactive rebase with a conflict": Work(
        "rebase --interactive theirs", _REBASE, "rebase --abort"
    ),
    "an interactive rebase that stopped at an edit": Work(
        "rebase --interactive HEAD~2",
        ("edit", "commit --all --amend --no-edit", "rebase --continue", "rebase --continue"),
        "rebase --abort",
        edit_each=True,
    ),
    "a rebase with work set aside": Work(
        "rebase --autostash theirs", _REBASE, "rebase --abort", before=("edit",)
    ),
    "a rebase that makes merges anew": Work(
        "rebase --rebase-merges theirs", _REBASE, "rebase --abort",
        before=("merge --no-edit fourth",),
    ),
    "a rebase by patches": Work("rebase --apply theirs", _REBASE, "rebase --abort"),
    "patches that do not apply": Work(
        "am --3way ../patches/0001.patch ../patches/0002.patch",
        (*_RESOLVE, "am --continue"), "am --abort",
    ),
    "a series of cherry-picks": Work(
        "cherry-pick main..theirs", (*_RESOLVE, "cherry-pick --continue"), "cherry-pick --abort"
    ),
    "a series of reverts": Work(
        "revert --no-edit HEAD~2 HEAD~1", (*_RESOLVE, "revert --continue"), "revert --abort",
        before=("edit", "commit --all --message=later"),
    ),
    "a bisect": Work(
        "bisect start HEAD main", ("bisect bad", "bisect good"), "bisect reset"
    ),
}  # fmt: skip


def make_history(world: World, place: Path) -> None:
    """Three commits here, and branches and patches that do not agree with them."""
    for branch, files in (("theirs", _THEIRS), ("mine", _MINE)):
        _git(world, place, "switch --quiet --detach main").ok()
        for name, content in files.items():
            write_files(place, {name: content})
            _git(world, place, "add --all").ok()
            _git(world, place, f"commit --quiet --message={name}").ok()
        _git(world, place, f"branch {branch}").ok()
    for name in ("fourth", "fifth"):
        _git(world, place, "switch --quiet --detach mine~1").ok()
        write_files(place, {f"only on {name}.txt": name})
        _git(world, place, "add --all").ok()
        _git(world, place, f"commit --quiet --message={name}").ok()
        _git(world, place, f"branch {name}").ok()
    _git(world, place, "tag --annotate --message=one v1 fourth").ok()
    shutil.rmtree(place.parent / "patches", ignore_errors=True)
    (place.parent / "patches").mkdir()
    for number, commit in (("1", "theirs~2"), ("2", "theirs~1")):
        patch = _git(world, place, f"format-patch --stdout -1 {commit}").ok().out
        write_files(place.parent, {f"patches/000{number}.patch": patch})


def take_up(world: World, place: Path, branch: str) -> None:
    """Have the branch at the three commits, with all the rest as it was."""
    _git(world, place, f"switch --quiet {branch}").ok()
    _git(world, place, "reset --quiet --hard mine").ok()


def begin(world: World, place: Path, what: str) -> None:
    work = WORKS[what]
    for step in work.before:
        _do(world, place, step)
    _git(world, place, work.begin, edit_each=work.edit_each)


def go_on(world: World, place: Path, what: str) -> None:
    """To its end, as somebody would who resolves what is to be resolved."""
    for step in WORKS[what].go_on:
        _do(world, place, step)


def give_up(world: World, place: Path, what: str) -> None:
    _git(world, place, WORKS[what].abort).ok()


def destroy(world: World, place: Path) -> None:
    """Delete every note of git's about it, as nobody should."""
    git_dir = world.git("rev-parse", "--absolute-git-dir", cwd=place).strip()
    for path in notes(place, git_dir):
        (place / git_dir / path).unlink()
    for name in ("rebase-merge", "rebase-apply", "sequencer", "refs/bisect", "refs/rewritten"):
        shutil.rmtree(place / git_dir / name, ignore_errors=True)
    _git(world, place, "reset --quiet --hard").ok()


def _do(world: World, place: Path, step: str) -> None:
    if step == "resolve":
        write_files(place, {"README.md": "resolved\n"})
    elif step == "edit":
        write_files(place, {"two.txt": "edited\n"})
    else:
        _git(world, place, step).ok()


def _git(world: World, place: Path, words: str, *, edit_each: bool = False) -> Ran:
    environment = {**_STILL, **(_EDIT_EACH if edit_each else {})}
    return world.run("git", *words.split(), cwd=place, env=environment)


def story(world: World, place: Path, branch: str) -> str:
    """Where everything is in the end: commits by their ids, HEAD, the branch and the status."""
    asked = ("log --format=%T%n%an%n%ae%n%B%n--", "symbolic-ref --quiet HEAD",
             "status --porcelain=v2 --branch", "status", "stash list", "diff HEAD",
             f"log --format=%T%n%B {branch}")  # fmt: skip
    told = "\n".join(_git(world, place, words).out for words in asked)
    graph = _git(world, place, "log --format=%H:%P:%T").out
    commits = [line.split(":")[0] for line in graph.splitlines()]
    told += graph
    for number, commit in enumerate(commits):
        told = told.replace(commit, str(number)).replace(commit[:7], str(number))
    return told.replace(branch, "BRANCH")


_NAMES = (
    "*_HEAD", "MERGE_*", "SQUASH_MSG", "BISECT_*", "AUTO_MERGE", "rebase-merge/**/*",
    "rebase-apply/**/*", "sequencer/**/*", "refs/bisect/**/*", "refs/rewritten/**/*",
)  # fmt: skip


def notes(place: Path, git_dir: str) -> dict[str, bytes]:
    """All that git has noted of what is under way, by path below the worktree's git directory."""
    root = place / git_dir
    found = {path for name in _NAMES for path in root.glob(name) if path.is_file()}
    texts = {str(path.relative_to(root)): path.read_bytes() for path in sorted(found)}
    texts.pop("FETCH_HEAD", None)
    return {} if texts.keys() <= {"ORIG_HEAD"} else texts
