"""Every check of the project; plain `nox` runs them all."""

import shutil
import zipfile
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "layers", "behave", "robot", "build"]

PYPROJECT = nox.project.load_toml("pyproject.toml")


def group(name: str) -> list[str]:
    return list(nox.project.dependency_groups(PYPROJECT, name))


def fresh_directory(session: nox.Session, name: str) -> Path:
    """Give an empty directory; unlike session.create_tmp, leave TMPDIR outside the checkout."""
    directory = session.cache_dir / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff."""
    session.install(*group("lint"))
    session.run("ruff", "check", *session.posargs, ".")
    session.run("ruff", "format", "--check", ".")


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


@nox.session
def behave(session: nox.Session) -> None:
    """Run the features against the installed package."""
    session.install(".", *group("behave"))
    session.run("python", "features/run_parallel.py", *session.posargs)


@nox.session
def robot(session: nox.Session) -> None:
    """Build the wheel, install it and drive it end to end from a shell."""
    wheels = fresh_directory(session, "wheel")
    session.run("pip", "wheel", "--no-deps", "--wheel-dir", str(wheels), ".")
    wheel = next(wheels.glob("*.whl"))
    session.install(str(wheel), *group("robot"))
    # pip keeps an installed copy of the same version, and the session's environment is reused.
    session.install("--force-reinstall", "--no-deps", str(wheel))
    results = fresh_directory(session, "robot-results")
    session.run("robot", "--outputdir", str(results), *session.posargs, "robot/")


@nox.session
def build(session: nox.Session) -> None:
    """Build sdist and wheel, and check that they are fit to publish."""
    session.install(*group("build"))
    dist = fresh_directory(session, "dist")
    session.run("python", "-m", "build", "--outdir", str(dist), *session.posargs)
    session.run("twine", "check", "--strict", *map(str, dist.iterdir()))
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        revisions = [n for n in wheel.namelist() if n.startswith("backtrail/migrations/versions/")]
    if not any(name.endswith(".py") for name in revisions):
        session.error("the wheel holds no database migrations")
