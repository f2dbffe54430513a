"""Every check of the project; plain `nox` runs them all but those that take long."""

import os
import shutil
import tarfile
import zipfile
from pathlib import Path

import nox

nox.needs_version = ">=2026.10"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_venv = "yes"
# Two at once: beside one that keeps every processor busy, those that keep one busy or wait.
nox.options.parallel = 2
nox.options.allow_parallel = True
# The longest is started as soon as it can be, and what others wait for is never last.
nox.options.sessions = [
    "lint",
    "layers",
    "behave",
    "types",
    "docs",
    "benchmark",
    "build",
    "postgres",
    "robot",
    "coverage_report",
]

ROOT = Path(__file__).parent
PYPROJECT = nox.project.load_toml("pyproject.toml")
MEASURED = ("behave", "postgres", "robot")


def group(name: str) -> list[str]:
    return list(nox.project.dependency_groups(PYPROJECT, name))


def fresh_directory(session: nox.Session, name: str) -> Path:
    """Give an empty directory; unlike session.create_tmp, leave TMPDIR outside the checkout."""
    directory = session.cache_dir / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


def install_package(session: nox.Session, *more: str) -> None:
    """Install the wheel of this checkout, which the session `wheel` built just before."""
    [built] = (session.cache_dir / "wheel").glob("*.whl")
    session.install(str(built), *more)
    # pip keeps an installed copy of the same version, and the session's environment is reused.
    session.install("--force-reinstall", "--no-deps", str(built))


def measured(session: nox.Session, suite: str) -> dict[str, str]:
    """Variables under which every Python process saves for coverage_report what it ran."""
    data = fresh_directory(session, f"coverage-{suite}") / "data"
    return {"COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml"), "COVERAGE_FILE": str(data)}


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the wheel that other sessions install."""
    place = fresh_directory(session, "wheel")
    session.run("pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place), ".")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff, and look for dead code with vulture."""
    session.install(*group("lint"))
    session.run("ruff", "check", *session.posargs, ".")
    session.run("ruff", "format", "--check", ".")
    # What only tests use is dead, too.
    session.run("vulture", "src", "migrations")
    session.run("vulture")


@nox.session
def types(session: nox.Session) -> None:
    """Check types with pyright."""
    session.install(*PYPROJECT["project"]["dependencies"], *group("types"))
    session.run("pyright", *session.posargs)


@nox.session
def layers(session: nox.Session) -> None:
    """Check with import-linter that no layer imports one above it."""
    session.install(*group("layers"))
    session.run("lint-imports", *session.posargs, env={"PYTHONPATH": "src"})


@nox.session(requires=["wheel"])
def docs(session: nox.Session) -> None:
    """Check pages, links and schemas, and run what pages show; `-- --write` renews them."""
    install_package(session, *group("docs"))
    session.run("python", "-m", "docs.tools", *session.posargs)


@nox.session(requires=["wheel"])
def behave(session: nox.Session) -> None:
    """Run the features against the installed package."""
    install_package(session, *group("behave"))
    session.run(
        "python", "features/run_parallel.py", *session.posargs, env=measured(session, "behave")
    )


@nox.session(requires=["wheel"])
def postgres(session: nox.Session) -> None:
    """Run the features that are about storage with the rows on a PostgreSQL server."""
    drivers = PYPROJECT["project"]["optional-dependencies"]["postgres"]
    install_package(session, *drivers, *group("postgres"))
    env = {**measured(session, "postgres"), "BACKTRAIL_TEST_DATABASE": "postgresql"}
    session.run("python", "features/run_parallel.py", *session.posargs, env=env)


@nox.session(requires=["wheel"])
def robot(session: nox.Session) -> None:
    """Drive the installed wheel end to end from a shell."""
    install_package(session, *group("robot"))
    results = fresh_directory(session, "robot-results")
    session.run(
        "python",
        "robot/run_parallel.py",
        str(results),
        *session.posargs,
        env=measured(session, "robot"),
    )


@nox.session(requires=MEASURED)
def coverage_report(session: nox.Session) -> None:
    """Put together what the features and the end-to-end suites covered; branches count, too."""
    session.install(*group("coverage"))
    data = [str(session.cache_dir / f"coverage-{suite}") for suite in MEASURED]
    place = fresh_directory(session, "coverage")
    env = {"COVERAGE_FILE": str(place / "data")}
    # Reads every file and runs none, so that those that nobody ever runs are reported, too.
    session.run("coverage", "run", "--source=src", "-m", "tabnanny", "-q", "src", env=env)
    session.run("coverage", "combine", "--quiet", "--keep", *data, str(place), env=env)
    session.run("coverage", "report", env=env)


@nox.session(requires=["wheel"])
def benchmark(session: nox.Session) -> None:
    """Run each benchmark once, in small: that they work, and ratios to look at."""
    install_package(session, *group("bench"))
    # asv keeps what it knows of the machine in the home directory, and nowhere else.
    env = {"HOME": str(fresh_directory(session, "asv-home"))}
    session.run("asv", "machine", "--yes", silent=True, env=env)
    # Why one failed is part of what it says.
    words = ("--quick", "--python=same", "--show-stderr", *session.posargs)
    session.run("asv", "run", *words, env=env)


@nox.session
def build(session: nox.Session) -> None:
    """Build sdist and wheel, and check that they are fit to publish."""
    session.install(*group("build"))
    dist = fresh_directory(session, "dist")
    session.run("python", "-m", "build", "--outdir", str(dist), *session.posargs)
    archives = sorted(dist.iterdir())
    session.run("twine", "check", "--strict", *map(str, archives))
    for archive in archives:
        if not any("migrations/versions/0006_" in name for name in _names_in(archive)):
            session.error(f"{archive.name} holds no database migrations")
    _try_out(session, archives)


def _names_in(archive: Path) -> list[str]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.namelist()
    with tarfile.open(archive) as sdist:
        return sdist.getnames()


def _try_out(session: nox.Session, archives: list[Path]) -> None:
    """Install each as a user would, where nothing is installed yet, and run the program."""
    for archive in archives:
        place = fresh_directory(session, "try-out")
        session.run("python", "-m", "virtualenv", "--quiet", str(place))
        session.run(str(place / "bin" / "pip"), "install", "--quiet", str(archive), external=True)
        session.run(str(place / "bin" / "plan"), "--version", external=True)


@nox.session(requires=["wheel"])
def chaos(session: nox.Session) -> None:
    """By hand: kills at every pair of places, long histories, all damage; takes an hour."""
    install_package(session, *group("behave"))
    wanted = session.posargs or [
        f"features/{name}.feature"
        for name in (
            "crash_matrix",
            "crash_of_recovery",
            "exchanged_directories",
            "model",
            "large_files",
            "step_chaos",
            "run_leases",
            "own_files",
        )
    ]
    examples = os.environ.get("BACKTRAIL_EXAMPLES", "200")
    session.run("python", "features/run_parallel.py", *wanted, env={"BACKTRAIL_EXAMPLES": examples})


@nox.session(requires=["wheel"])
def kills(session: nox.Session) -> None:
    """By hand: plans created, forked and restored, killed at each system call; needs strace."""
    install_package(session)
    if shutil.which("strace") is None:
        session.skip("strace is not installed: nothing was killed")
    session.run("python", "features/kill_hunt.py", *session.posargs)


@nox.session(requires=["wheel"])
def roundtrips(session: nox.Session) -> None:
    """By hand: 20,000 random trees saved, wrecked, brought back and undone; takes an hour."""
    install_package(session, *group("behave"))
    features = [f"features/fidelity_random{of}.feature" for of in ("", "_attached")]
    env = {"BACKTRAIL_EXAMPLES": os.environ.get("BACKTRAIL_EXAMPLES", "10000")}
    session.run("python", "features/run_parallel.py", *features, env=env)


@nox.session(requires=["wheel"])
def scale(session: nox.Session) -> None:
    """By hand: checkpoints and rollbacks of 20,000 files, as ratios against plain git."""
    install_package(session)
    session.run("python", "benchmarks/checkpoint_ratios.py", *session.posargs)


@nox.session(requires=["wheel"])
def heavy(session: nox.Session) -> None:
    """By hand: every command at size, beside git's own time for the same work; takes an hour."""
    install_package(session)
    session.run("python", "-m", "benchmarks.heavy", *session.posargs)
