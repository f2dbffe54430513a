"""A scenario's world: a temporary directory with a home, a repository and the program itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrail.bootstrap import Services, open_services
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from support.program.schemas import check_answer
from support.storage.rows import Rows, SqliteRows, new_rows

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from backtrail.domain.plan import Plan

RUN_PLAN = "import sys; from backtrail.cli.main import main; main(sys.argv[1:])"
KILLABLE = Path(__file__).parents[1] / "crashes" / "killable.py"
KILLED = -9
PATIENCE_SECONDS = 600.0
"""How long anything may take before it counts as hanging: no scenario depends on it."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished command."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    def documented(self) -> Ran:
        """The same, once its JSON, if that is what it printed, was found to be as documented."""
        check_answer(self.out, self.code)
        return self

    def ok(self) -> Ran:
        assert self.code == 0, f"{self.arguments} gave {self.code}\n{self.out}\n{self.err}"
        return self


@dataclass(slots=True)
class World:
    """Everything below one temporary directory; blanks and unicode in its name on purpose."""

    root: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="bt wörld ")))
    extra_env: dict[str, str] = field(default_factory=dict[str, str])
    repo_name: str = "my repo"
    given_rows: Rows | None = None
    with_small_files: bool = True
    """Whether its plan.toml lets small ignored files be captured by default."""

    def __post_init__(self) -> None:
        self.home.mkdir(exist_ok=True)

    @property
    def rows(self) -> Rows:
        """The database; made when it is first asked for."""
        if self.given_rows is None:
            self.given_rows = new_rows(self.backtrail_home / "plan.db")
        return self.given_rows

    def share_rows(self) -> None:
        """Keep the rows where other repositories of this world can keep theirs."""
        if isinstance(self.rows, SqliteRows):
            self.given_rows = SqliteRows(self.root / "shared.db", shared=True)

    def beside(self, repo_name: str) -> World:
        """Another repository of the same world, with the same database."""
        return replace(self, repo_name=repo_name, given_rows=self.rows)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def repo(self) -> Path:
        return self.root / self.repo_name

    def sandbox(self, name: str) -> Path:
        return self.root / f"{self.repo_name}.plans" / name

    @property
    def backtrail_home(self) -> Path:
        return self.repo / ".git" / "backtrail"

    @property
    def store(self) -> Path:
        return self.backtrail_home / "store.git"

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PLAN_", "XDG_"))}
        identity = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Test"), ("EMAIL", "test@example.com"))
        }
        quiet = {"GIT_CONFIG_NOSYSTEM": "1", "NO_COLOR": "1", "COLUMNS": "120"}
        rows = self.rows.environment()
        return {**kept, **identity, **quiet, **rows, "HOME": str(self.home), **self.extra_env}

    def run(
        self,
        *arguments: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | None = None,
    ) -> Ran:
        done = subprocess.run(
            arguments,
            cwd=cwd or self.repo,
            env={**self.environment(), **(env or {})},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Ran(arguments, done.returncode, done.stdout, done.stderr)

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        return self.run("git", *arguments, cwd=cwd).ok().out

    def plan(
        self, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> Ran:
        """Run the program as a process of its own."""
        return self.run(*self.program(), *arguments, cwd=cwd, env=env).documented()

    @staticmethod
    def program() -> list[str]:
        """The words that start the program."""
        return [sys.executable, "-c", RUN_PLAN]

    def plan_killed_at(
        self, failpoint: str, *arguments: str, nth: int = 1, cwd: Path | None = None
    ) -> Ran:
        """Run the program; it dies by SIGKILL when it passes the failpoint for the nth time."""
        program = (sys.executable, str(KILLABLE), failpoint, str(nth))
        return self.run(*program, *arguments, cwd=cwd).documented()

    @contextmanager
    def services(self, failpoints: Failpoints = NO_FAILPOINTS) -> Generator[Services]:
        """The services in this process, as a Python user has them."""
        services = open_services(
            self.repo, self.environment(), command_line="test", failpoints=failpoints
        )
        try:
            yield services
        finally:
            services.close()

    def create_plan(self, name: str) -> Plan:
        if "PLAN_HOME" not in self.extra_env:
            self.rows.make_schema()
        with self.services() as services:
            return services.plans.create(name).plan

    def make_repository(self) -> None:
        """A small repository with one commit."""
        self.repo.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        write_files(
            self.repo,
            {
                "README.md": "hello\n",
                "src/app.py": "print('one')\n",
                "src/lib/util.py": "x = 1\n",
                ".gitignore": "*.log\nbuild/\n",
            },
        )
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "first")

    def remove(self) -> None:
        if self.given_rows is not None:
            self.given_rows.drop()
        shutil.rmtree(self.root, ignore_errors=True)


def write_files(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def remove(place: Path) -> None:
    """Remove a file, or a directory with all that is in it."""
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
