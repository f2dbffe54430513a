"""Steps about secrets: what is taken out of what people type, and where it must not be."""

import hashlib
import re
import shlex
import time
from pathlib import Path

from behave import step, then, when
from hypothesis import given as for_any
from hypothesis import settings
from hypothesis import strategies as st

from backtrail.domain.redaction import REDACTED, redacted, redacted_words
from backtrail.domain.step import command_digests
from support.program.answers import in_every_format
from support.program.forked import run_forked
from support.storage.bytes_below import places_with
from support.world import audit

FRAGMENTS = (
    *(" ", "\n", "'", '"', "\\", "=", ":", "://", "@", "-", "--", "-p", "/", ";", "&", ",", "$"),
    *("a", "X1", "password", "token", "API_KEY", "Authorization", "Bearer ", "mysql ", "curl -u "),
    *("ghp_0123456789ab", "-----BEGIN PRIVATE KEY-----", "eyJabcdefg.eyJabcdefg", REDACTED),
)


@then("these lose what is secret, and nothing else:")
def _(context):
    wrong = []
    for row in context.table:
        marked = row["line"]
        line = re.sub("[«»]", "", marked)
        wanted = re.sub("«.*?»", REDACTED, marked)
        if redacted(line) != wanted:
            wrong.append(f"{redacted(line)}   instead of   {wanted}")
        words = _words(line)
        if words is not None and redacted_words(words) != tuple(shlex.split(wanted)):
            wrong.append(f"{redacted_words(words)}   instead of   {wanted}")
    assert not wrong, "\n".join(wrong)


def _words(line):
    try:
        return shlex.split(line)
    except ValueError:
        return None


@then("these stay as they are:")
def _(context):
    wrong = []
    for row in context.table:
        line, words = row["line"], _words(row["line"])
        if redacted(line) != line:
            wrong.append(f"{line}   became   {redacted(line)}")
        if words is not None and redacted_words(words) != tuple(words):
            wrong.append(f"{words}   became   {redacted_words(words)}")
    assert not wrong, "\n".join(wrong)


@then("redacting any text twice gives the same as once")
def _(context):
    pieces = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=12)

    @settings(max_examples=1500, deadline=None, database=None, print_blob=True)
    @for_any(pieces.map("".join))
    def holds(text):
        once = redacted(text)
        assert redacted(once) == once, (text, once, redacted(once))
        words = redacted_words(text.split(" "))
        assert redacted_words(words) == words, (text, words)

    holds()


@then("a text of 200,000 characters takes less than {seconds:d} seconds, whatever it is made of")
def _(context, seconds):
    units = (*FRAGMENTS, "a-", "--a", "://a:b", "password='", 'token="x', "key=a,", "a.a", "'a\"")
    for unit in units:
        began = time.monotonic()
        redacted(unit * (200_000 // len(unit)))
        took = time.monotonic() - began
        assert took < seconds, f"{unit!r}: {took:.1f} s"


@then('what follows "{option:Text}" on the next line of a command is taken out')
def _(_context, option):
    for end in ("\\\n", "\\\r\n", "\\\n   "):
        line = f"deploy {option} {end} tell-nobody --now"
        wanted = line.replace("tell-nobody", REDACTED)
        assert redacted(line) == wanted, redacted(line)
        assert redacted_words(["sh", "-c", line]) == ("sh", "-c", wanted), line


BEGINNINGS = (
    *("TOKEN=$(", "TOKEN={{", "password=[redacted]", "eyJ-", "TOKEN=<a", "TOKEN='", 'TOKEN="'),
    *("PASSWORD '", "IDENTIFIED BY ", "TOKEN=$(echo ", "set -x ", "redis-cli auth ", "?auth="),
    *("api.telegram.org/bot", "password: ${a", "cookie: a=", "--apikey: ", "\\\n", "-p", "pw="),
)


@then(
    "words of 60,000 characters take less than {seconds:d} seconds, whatever looks like the "
    "beginning of something"
)
def _(_context, seconds):
    for unit in BEGINNINGS:
        began = time.monotonic()
        redacted_words([unit * (60_000 // len(unit))])
        took = time.monotonic() - began
        assert took < seconds, f"{unit!r}: {took:.1f} s"


@when('these commands are run, in which "{secret}" is secret:')
def _(context, secret):
    context.answers = []
    for row in context.table:
        program, *words = shlex.split(row["command"])
        assert program == "plan", row
        ran = run_forked(context.world, *words)
        assert ran.code not in (2, 70), f"{row['command']}: {ran}"
        context.answers.append((row["command"], ran))


@then('"{secret}" is in no file of the home, in no object of the store and in no answer')
def _(context, secret):
    found = places_with(context.world, secret.encode())
    assert not found, found
    told = [(command, ran) for command, ran in context.answers if secret in ran.out + ran.err]
    assert not told, told


@then('these answers do not have "{secret}" either, in any format:')
def _(context, secret):
    for row in context.table:
        for name, ran in in_every_format(context.world, *shlex.split(row["command"])[1:]).items():
            assert secret not in ran.ok().out + ran.err, f"{name}: {ran}"
    ops = run_forked(context.world, "ops", "auth", "--limit", "100").ok()
    assert f"--password '{REDACTED}'" in ops.out, ops


@then('it names a log, in which "{secret}" is not')
def _(context, secret):
    log = Path(context.ran.err.partition("what happened is in ")[2].partition(";")[0])
    text = log.read_text()
    log.unlink()
    assert "Traceback" in text, text
    assert REDACTED in text, text
    assert secret not in text + context.ran.err, text


def _digest(context, key):
    [row] = audit.query(context.world, "SELECT digest FROM steps WHERE key = ?", key)
    return row["digest"]


def _without_key(command):
    return command_digests(b"", shlex.split(command), "", {}).earlier


@then('the digest of step "{key}" is not what "{command}" gives without a key')
def _(context, key, command):
    found = _digest(context, key)
    assert found != _without_key(command), found
    assert len(found) == len(hashlib.sha256().hexdigest()), found


@step('the digest of step "{key}" is what "{command}" gives without a key')
def _(context, key, command):
    sql = "UPDATE steps SET digest = ? WHERE key = ?"
    assert audit.change(context.world, sql, _without_key(command), key) == 1


@when("the key of the digests is cut short")
def _(context):
    [key] = context.world.backtrail_home.glob("*.key")
    assert key.stat().st_mode & 0o077 == 0, oct(key.stat().st_mode)
    key.write_bytes(b"short")
