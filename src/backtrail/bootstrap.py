"""The composition root: reads the environment once and wires the services together."""

from __future__ import annotations

import errno
import getpass
import hashlib
import platform
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.config.configuration import Configuration, read_configuration
from backtrail.config.place import Place, place_of
from backtrail.domain.errors import NoPlansYetError, StorageError, UsageError
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from backtrail.domain.operation import OperationKind
from backtrail.git.ignore.rules import UserSettings
from backtrail.git.osfiles.locks import exclusive_lock
from backtrail.git.process.environment import users_environment
from backtrail.git.store.elsewhere import Elsewhere
from backtrail.git.store.store import PrivateStore, StoreLayout, check_private, claim_home
from backtrail.git.user.discovery import Worktree, find_worktree, worktree_at
from backtrail.git.user.head import user_git
from backtrail.git.user.identity import refuse_own_files_inside
from backtrail.git.user.ownership import Ownership
from backtrail.services.apply.service import ApplyService
from backtrail.services.checkpoints.service import CheckpointService
from backtrail.services.corrections.corrective import Corrective
from backtrail.services.corrections.service import CorrectionService
from backtrail.services.database import DatabaseService
from backtrail.services.decisions.service import DecisionService
from backtrail.services.lifecycle.purge import finish_purge
from backtrail.services.lifecycle.remove import finish_removal
from backtrail.services.lifecycle.restore import finish_restoration
from backtrail.services.lifecycle.service import LifecycleService
from backtrail.services.plans.create import finish_creation
from backtrail.services.plans.service import PlanService
from backtrail.services.recovery.recover import recover
from backtrail.services.retention.service import PolicyService
from backtrail.services.runs.crashes import close_crashed, take_over
from backtrail.services.runs.service import RunService
from backtrail.services.session.context import DEFAULT_WAIT, Actor, Workspace
from backtrail.services.session.enter import Repairs
from backtrail.services.steps.service import StepService
from backtrail.services.tools.service import ToolService
from backtrail.storage.connection.address import database_files
from backtrail.storage.connection.engine import create_database_engine
from backtrail.storage.connection.schema import ensure_schema, store_of_sandboxes
from backtrail.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from backtrail.config.effective import EffectiveSettings


_OUT_OF_PLACE = frozenset(
    {
        errno.EEXIST,
        errno.EINVAL,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.ENOTEMPTY,
        errno.ENXIO,
    }
)


def _say_nothing(text: str) -> None:
    del text


class Services:
    """Everything a command or a script may call, for one repository; made when it is asked for."""

    def __init__(self, workspace: Workspace, environ: Mapping[str, str], ending: ExitStack) -> None:
        self.workspace = workspace
        self._environ = environ
        self._ending = ending

    @cached_property
    def plans(self) -> PlanService:
        return PlanService(self.workspace)

    @cached_property
    def checkpoints(self) -> CheckpointService:
        return CheckpointService(self.workspace)

    @cached_property
    def policies(self) -> PolicyService:
        return PolicyService(self.workspace)

    @cached_property
    def lifecycle(self) -> LifecycleService:
        return LifecycleService(self.workspace)

    @cached_property
    def runs(self) -> RunService:
        return RunService(self.workspace, self._environ)

    @cached_property
    def steps(self) -> StepService:
        return StepService(self.workspace)

    @cached_property
    def tools(self) -> ToolService:
        return ToolService(self.workspace, self._environ)

    @cached_property
    def decisions(self) -> DecisionService:
        return DecisionService(self.workspace)

    @cached_property
    def applies(self) -> ApplyService:
        return ApplyService(self.workspace)

    @cached_property
    def corrections(self) -> CorrectionService:
        return CorrectionService(self.checkpoints, self.workspace)

    @property
    def notices(self) -> list[str]:
        """What recovery did on the way, in sentences."""
        return self.workspace.notices

    def close(self) -> None:
        self._ending.close()


def open_services(
    start: Path,
    environ: Mapping[str, str],
    *,
    command_line: str,
    failpoints: Failpoints = NO_FAILPOINTS,
    progress: Callable[[str], None] = _say_nothing,
    make: bool = True,
    tolerated: list[str] | None = None,
    to_capture: Path | None = None,
) -> Services:
    """The services for the repository that holds `start`; its store is made at first use.

    Without `make` a repository that never had a plan is left as it is: NoPlansYet. What is wrong
    with `plan.toml` is added to `tolerated` by callers to whom no setting matters, else raised.
    Nothing is made either if the checkout that is `to_capture` would then hold our own files.
    """
    worktree = _find(start, ownership := Ownership(environ))
    configuration = _configuration(_place(worktree, environ), tolerated)
    layout = _home(worktree, environ)
    if not make and not PrivateStore(layout, worktree.common_dir).exists():
        raise NoPlansYetError(
            "there is no plan in this repository yet", hint="plan create NAME makes one"
        )
    url = _database_url(layout, environ)
    own_paths = (layout.home, worktree.common_dir, *database_files(url))
    if to_capture is not None:
        _refuse_own_files(to_capture, own_paths)
    with ExitStack() as opened, own_files(layout.home):
        _open_home(layout, worktree.common_dir, environ)
        store = PrivateStore(layout, worktree.common_dir, elsewhere=Elsewhere(_temporary(environ)))
        # Before it is made: nobody else may then take what is half made for a leftover.
        store = opened.enter_context(store.joined())
        _make_if_missing(store)
        engine = create_database_engine(url)
        opened.callback(engine.dispose)
        ensure_schema(engine, in_use=lambda: bool(store.sandboxes()))
        put_right = store.check_own_files(
            lambda: store_of_sandboxes(engine, store.sandboxes()),
            lambda: _object_format(worktree.common_dir),
        )
        store.notices.extend(put_right)
        store_id, host_id = store.store_id(), _host_id()
        ending = opened.pop_all()
    workspace = Workspace(
        common_dir=worktree.common_dir,
        main_root=_main_root(worktree),
        start_git_dir=worktree.git_dir,
        layout=layout,
        store=store,
        database=Database(engine, store_id=store_id, host_id=host_id),
        store_id=store_id,
        host_id=host_id,
        ownership=ownership,
        user=_user_settings(environ),
        users_environment=users_environment(environ),
        own_paths=own_paths,
        repairs=_repairs(),
        companions={OperationKind.REVERT: Corrective()},
        actor=Actor(_user_name(environ), platform.node(), command_line),
        failpoints=failpoints,
        progress=progress,
        notices=store.notices,
        settings=configuration.settings,
    )
    return Services(workspace, environ, ending)


@contextmanager
def own_files(home: Path) -> Generator[None]:
    """Tell of a file of our own that is not what it should be in one sentence.

    What the machine has run out of, or does not allow, is told elsewhere and of all files.
    """
    try:
        yield
    except OSError as error:
        path = str(error.filename or "")
        if error.errno not in _OUT_OF_PLACE or not Path(path).is_relative_to(home):
            raise
        raise StorageError(
            f"{path!r}, a file of Backtrail's own, cannot be used: {error.strerror}",
            hint="nobody else should change it: move it away or restore it from a backup, "
            "and try again",
        ) from error


def _find(start: Path, ownership: Ownership) -> Worktree:
    """The checkout that holds a directory, if git would work in it."""
    worktree = find_worktree(start)
    ownership.refuse_foreign(worktree.root, worktree.git_dir, worktree.common_dir)
    return worktree


def _repairs() -> Repairs:
    """What the services of plans, runs and sandboxes know of finishing what was interrupted."""
    return Repairs(
        finish_creation=finish_creation,
        finishers={
            OperationKind.REMOVE: finish_removal,
            OperationKind.PURGE: finish_purge,
            OperationKind.RESTORE: finish_restoration,
        },
        take_over=take_over,
        recover=recover,
        close_crashed=close_crashed,
    )


def _refuse_own_files(to_capture: Path, own_paths: tuple[Path, ...]) -> None:
    place = to_capture.resolve()
    checkouts = (d for d in (place, *place.parents) if worktree_at(d) is not None)
    root = next(checkouts, None)
    # What is no checkout at all is refused later, for that reason.
    if root is not None:
        refuse_own_files_inside(root, own_paths)


def _configuration(place: Place, tolerated: list[str] | None) -> Configuration:
    try:
        return read_configuration(place)
    except UsageError as error:
        if tolerated is None:
            raise
        tolerated.append(f"{error.message}; what is shown here does not depend on it")
        return Configuration(place.file)


def _place(worktree: Worktree, environ: Mapping[str, str]) -> Place:
    return place_of(
        worktree.root, worktree.common_dir, is_main=worktree.is_main, home=environ.get("HOME")
    )


def open_configuration(start: Path, environ: Mapping[str, str]) -> EffectiveSettings:
    """What is in force in a repository and why; nothing is made."""
    from backtrail.config.effective import effective_settings, surroundings

    worktree = _find(start, Ownership(environ))
    place = _place(worktree, environ)
    layout = _home(worktree, environ)
    database = DatabaseService(_database_url(layout, environ)).location()
    around = surroundings(environ, home=layout.home, database=database)
    return effective_settings(read_configuration(place), around, at=worktree.root)


def open_database_admin(start: Path, environ: Mapping[str, str]) -> DatabaseService:
    """For looking at the database itself, whatever state it is in."""
    layout = _home(_find(start, Ownership(environ)), environ)
    layout.make_directories()
    return DatabaseService(_database_url(layout, environ))


def _user_settings(environ: Mapping[str, str]) -> UserSettings:
    names = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
    variables = tuple((name, environ[name]) for name in names if name in environ)
    return UserSettings(environ.get("HOME"), environ.get("XDG_CONFIG_HOME"), variables)


def _home(worktree: Worktree, environ: Mapping[str, str]) -> StoreLayout:
    configured = environ.get("PLAN_HOME")
    home = Path(configured).absolute() if configured else worktree.common_dir / "backtrail"
    return StoreLayout(home)


def _database_url(layout: StoreLayout, environ: Mapping[str, str]) -> str | Path:
    return environ.get("PLAN_DATABASE_URL") or layout.home / "plan.db"


def _open_home(layout: StoreLayout, common_dir: Path, environ: Mapping[str, str]) -> None:
    """Have a home that nobody else can read; a chosen one is marked as its own."""
    layout.make_directories()
    check_private(layout.home)
    if environ.get("PLAN_HOME"):
        claim_home(layout, common_dir)


def _make_if_missing(store: PrivateStore) -> None:
    if not store.exists():
        with _shared_lock(store.layout):
            if not store.exists():
                store.create(_object_format(store.common_dir))


def _temporary(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Where there may be room for what is not to be kept; mkdtemp makes it safe."""
    usual = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108
    return tuple(map(Path, filter(None, (environ.get("TMPDIR"), *usual))))


def _object_format(common_dir: Path) -> str:
    output = user_git(common_dir).run(
        "config", "--file", str(common_dir / "config"), "--get", "extensions.objectFormat"
    )
    return output.text or "sha1"


def _shared_lock(layout: StoreLayout) -> AbstractContextManager[int]:
    return exclusive_lock(
        layout.locks / "store.lock", wait=DEFAULT_WAIT, what="the checkpoint store"
    )


def _main_root(worktree: Worktree) -> Path:
    """The checkout beside which sandboxes are put: never inside a git directory."""
    inside = worktree.root == worktree.common_dir or not worktree.is_main
    if inside and worktree.common_dir.name == ".git":
        return worktree.common_dir.parent
    return worktree.root


def _host_id() -> str:
    try:
        machine = Path("/etc/machine-id").read_text().strip()
    except OSError:
        machine = ""
    return hashlib.sha256((machine or platform.node()).encode()).hexdigest()[:16]


def _user_name(environ: Mapping[str, str]) -> str:
    named = environ.get("USER") or environ.get("LOGNAME")
    if named:
        return named
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
