"""Work on the user's own repository through GitPython: checking out, resolving revisions."""

from __future__ import annotations

from pathlib import Path

from git import Git, GitCommandError, InvalidGitRepositoryError, NoSuchPathError, Repo

from backtrail.domain.errors import GitFailedError, NotFoundError
from backtrail.domain.ids import CommitId
from backtrail.git.process.environment import git_executable, settings_arguments
from backtrail.git.user.head import UserIndex
from backtrail.git.user.index import put_index
from backtrail.git.user.locked_files import opened_directory

# The user's hooks are for the user's own work, not for making a sandbox.
_QUIETLY = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0")
CHECKED_OUT = "backtrail-checked-out"


class UserRepository:
    """The repository that the user works with, with their own configuration in force."""

    def __init__(self, common_dir: Path, lock_descriptors: tuple[int, ...] = ()) -> None:
        self._common_dir = common_dir
        self._lock_descriptors = lock_descriptors
        try:
            Repo(common_dir, search_parent_directories=False, expand_vars=False).close()
        except (InvalidGitRepositoryError, NoSuchPathError) as error:
            raise GitFailedError(
                f"git cannot open the repository at {str(common_dir)!r}",
                hint="git status there says what is wrong with it",
            ) from error

    def _git(self, git_dir: Path | None = None, work_tree: Path | None = None) -> Git:
        """Git with everything that an inherited environment could redirect set anew."""
        git_dir = git_dir or self._common_dir
        git = Git(str(work_tree or git_dir))
        git.update_environment(
            GIT_DIR=str(git_dir),
            GIT_COMMON_DIR=str(self._common_dir),
            GIT_INDEX_FILE=str(git_dir / "index"),
            GIT_OBJECT_DIRECTORY=str(self._common_dir / "objects"),
            GIT_WORK_TREE=str(work_tree or git_dir),
            GIT_CONFIG_COUNT="0",
            GIT_CONFIG_PARAMETERS="",
            GIT_ALTERNATE_OBJECT_DIRECTORIES="",
            GIT_TERMINAL_PROMPT="0",
        )
        git.set_persistent_git_options(c=list(_QUIETLY))
        return git

    def resolve_commit(self, revision: str, git_dir: Path) -> CommitId:
        """The commit that a revision names in the worktree of that git directory."""
        try:
            found = self._git(git_dir).rev_parse(
                "--verify", "--quiet", "--end-of-options", revision + "^{commit}"
            )
        except GitCommandError as error:
            raise NotFoundError(
                f"{revision!r} names no commit of this repository",
                hint="give a branch, a tag or a commit",
            ) from error
        return CommitId(found)

    def head_commit(self, git_dir: Path) -> CommitId | None:
        try:
            return CommitId(self._git(git_dir).rev_parse("--verify", "--quiet", "HEAD^{commit}"))
        except GitCommandError:
            return None

    def branch_of(self, revision: str | None, git_dir: Path) -> str | None:
        """The local branch that a revision (or HEAD) names, if it names one."""
        try:
            name = self._git(git_dir).rev_parse(
                "--symbolic-full-name", "--end-of-options", revision or "HEAD"
            )
        except GitCommandError:
            return None
        # `--end-of-options` is echoed by some versions of git.
        last = name.splitlines()[-1] if name else ""
        return last.removeprefix("refs/heads/") if last.startswith("refs/heads/") else None

    def check_out(self, path: Path, git_dir: Path) -> tuple[str, ...]:
        """Fill a registered worktree with the files of its HEAD; gives what is worth saying."""
        try:
            self._read_tree(path, git_dir, _QUIETLY)
        except GitCommandError as error:
            filters = self._required_filters()
            if not filters:
                raise _failed("git read-tree", error) from error
        else:
            return ()
        # A required filter that is not installed (LFS, say) must not make a plan impossible.
        try:
            self._read_tree(path, git_dir, (*_QUIETLY, *_without_filters(filters)))
        except GitCommandError as error:
            raise _failed("git read-tree", error) from error
        names = ", ".join(filters)
        return (f"filter {names} does not work here: its files hold what git stores for them",)

    def _read_tree(self, path: Path, git_dir: Path, settings: tuple[str, ...]) -> None:
        """Check out into an index of ours: a git that is killed leaves its lock on that one."""
        index = git_dir / CHECKED_OUT
        index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
        git = self._git(git_dir, path)
        git.update_environment(GIT_INDEX_FILE=str(index))
        words = ("read-tree", "--reset", "-u", "--no-recurse-submodules", "HEAD")
        # An orphaned child keeps our locks until it ends.
        git.execute(
            [git_executable(), *settings_arguments(settings), *words],
            pass_fds=self._lock_descriptors,
        )
        checked_out = UserIndex(index.read_bytes(), index.stat().st_mtime_ns)
        with opened_directory(git_dir) as directory:
            put_index(directory, git_dir, checked_out)
        index.unlink()

    def _required_filters(self) -> list[str]:
        try:
            listed = self._git().config("--name-only", "--get-regexp", r"^filter\..*\.required$")
        except GitCommandError:
            return []
        return [name.removeprefix("filter.").removesuffix(".required") for name in listed.split()]


def _without_filters(names: list[str]) -> list[str]:
    return [
        f"filter.{name}.{key}"
        for name in names
        for key in ("process=", "smudge=", "clean=", "required=false")
    ]


def _failed(what: str, error: GitCommandError) -> GitFailedError:
    said = str(error.stderr).strip().removeprefix("stderr: ").strip("'\n ")
    line = said.splitlines()[-1] if said else f"exit code {error.status}"
    return GitFailedError(f"{what} failed: {line}", details={"stderr": said})
