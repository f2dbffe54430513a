"""Steps about a database server of which nothing more is heard."""

import os
import signal
import time
from functools import partial
from pathlib import Path

from behave import given, then, when

from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from support.program.forked import DoHere, end_after, run_forked
from support.storage.silence import Proxy

MARGIN_SECONDS = 60
"""A machine under load starts slowly; what would hang hangs for longer than that."""


def _limits(seconds):
    return f"connect_timeout={seconds}&tcp_user_timeout={seconds}000"


@given("a network that can fall silent, of which {seconds:d} seconds of silence are borne")
def _(context, seconds):
    from support.storage.postgresql import socket_directory

    server = socket_directory() / ".s.PGSQL.5432"
    context.proxy = Proxy(server, context.world.root / "silent")
    context.add_cleanup(context.proxy.end)
    name, port = context.world.rows.name, context.proxy.port
    limits = _limits(seconds)
    context.url = f"postgresql+psycopg://postgres@127.0.0.1:{port}/{name}?{limits}"


@given("a URL that bears {seconds:d} seconds of silence")
def _(context, seconds):
    context.url = f"{context.world.rows.url()}&{_limits(seconds)}"


@given("the network has fallen silent")
def _(context):
    context.proxy.fall_silent()


@given("the network works again")
def _(context):
    context.proxy.speak_again()


@when('"{command:Text}" is run over it')
def _(context, command):
    _run(context, command)


@when('"{command:Text}" is run over it, and falls silent at "{failpoint:Text}"')
def _(context, command, failpoint):
    _run(context, command, DoHere(failpoint, context.proxy.fall_silent))


@when(
    '"{command:Text}" is run over it, and all processes of the server are stopped at '
    '"{failpoint:Text}"'
)
def _(context, command, failpoint):
    try:
        _run(context, command, DoHere(failpoint, lambda: _to_all(signal.SIGSTOP)))
    finally:
        # Whatever came of it: nobody can tidy up as long as the server stands still.
        _to_all(signal.SIGCONT)


def _run(context, command, failpoints: Failpoints = NO_FAILPOINTS):
    began = time.monotonic()
    context.ran = run_forked(
        context.world,
        *command.split()[1:],
        env={"PLAN_DATABASE_URL": context.url},
        failpoints=failpoints,
        before=partial(end_after, 20 + MARGIN_SECONDS),
    )
    context.took = time.monotonic() - began


def _to_all(number):
    """Signal the server and each of its processes."""
    from support.storage.postgresql import server

    postmaster = server().get_postmaster_info().pid
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    for pid in (postmaster, *map(int, children)):
        os.kill(pid, number)


@then('it ends within {seconds:d} seconds with {code:d} and says "{words:Text}"')
def _(context, seconds, code, words):
    assert context.ran.code == code, context.ran
    assert words in context.ran.err, context.ran
    assert "hint: " in context.ran.err, context.ran
    assert context.took < seconds + MARGIN_SECONDS, context.took


@given("a database without tables on that network, which is locked by somebody for long")
def _(context):
    import psycopg

    from support.storage.postgresql import server

    context.world.rows.empty()
    holder = psycopg.connect(server().get_uri(context.world.rows.name))
    context.add_cleanup(holder.close)
    # Whoever makes tables must write here.
    holder.execute("LOCK TABLE pg_catalog.pg_class IN SHARE MODE")
