"""Turns a function that takes a session into a Typer command with the options for all."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import typer

from backtrail.cli.invocation.error_codes import Escaped
from backtrail.cli.invocation.session import Session, command_words
from backtrail.cli.parsing.options import Directory, OutputFormat, Quiet, Verbose
from backtrail.cli.render.report import Failure, Report

_R = TypeVar("_R")
_OPTIONS: Mapping[str, tuple[object, object]] = {
    "directory": (Directory, None),
    "format": (OutputFormat, None),
    "quiet": (Quiet, False),
    "verbose": (Verbose, False),
}


def command(function: Callable[..., Report | Failure]) -> Callable[..., Report | Failure]:
    """A command: its own parameters, then the options for all, which the session takes."""

    def run(context: typer.Context, **arguments: Any) -> Report | Failure:  # noqa: ANN401 - Typer checked
        session = session_of(context)
        _take_options(session, arguments)
        try:
            session.check()
            return function(session, **arguments)
        except (KeyboardInterrupt, EOFError, OSError) as error:
            raise Escaped(error) from error

    return _with_options(run, function)


def group(function: Callable[..., None]) -> Callable[..., None]:
    """A group's callback: the options for all may also stand before the command's name."""

    def run(context: typer.Context, **arguments: Any) -> None:  # noqa: ANN401 - Typer checked them
        _take_options(session_of(context), arguments)
        function(context, **arguments)

    return _with_options(run, function)


def session_of(context: typer.Context) -> Session:
    """The session, which also learns here which command is being run."""
    session: Session = context.obj
    session.command = command_words(context.command_path)
    return session


def _take_options(session: Session, arguments: dict[str, Any]) -> None:
    directory, format_, quiet, verbose = (arguments.pop(name) for name in _OPTIONS)
    session.apply(directory, format_, quiet=quiet, verbose=verbose)


def _with_options(run: Callable[..., _R], function: Callable[..., Any]) -> Callable[..., _R]:
    """Give a wrapper the signature that Typer is to see."""
    _, *own = inspect.signature(function, eval_str=True).parameters.values()
    kind = inspect.Parameter.KEYWORD_ONLY
    context = inspect.Parameter("context", kind, annotation=typer.Context)
    options = [
        inspect.Parameter(name, kind, default=default, annotation=annotation)
        for name, (annotation, default) in _OPTIONS.items()
    ]
    keywords = [parameter.replace(kind=kind) for parameter in own]
    run.__signature__ = inspect.Signature([context, *keywords, *options])
    run.__annotations__ = {}
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__dict__.update(function.__dict__)
    return run
