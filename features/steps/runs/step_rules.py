"""Steps about the rules of durable steps, held against a model that replays events."""

import json
import math
from itertools import combinations

from behave import then
from hypothesis import assume, given
from hypothesis import strategies as st

from backtrail.domain.errors import UsageError
from backtrail.domain.ledger import outputs_to_drop
from backtrail.domain.step import (
    MarkKind,
    StepName,
    UnrecordableError,
    call_digests,
    check_key,
    command_digests,
    from_json,
    to_json,
)
from support.runs.step_model import replay, stories
from support.world import phrases
from support.world.examples import search

MANY = search(150)
LETTERS = st.text(alphabet="a1:_/ \n\0é\udcff", max_size=6)
CYCLE = []
CYCLE.append(CYCLE)
UNRECORDABLE = {
    "a set": {1},
    "bytes": b"x",
    "a number as a key": [{1: "x"}],
    "not a number": math.nan,
    "infinity": {"x": math.inf},
    "a function": print,
    "itself": CYCLE,
}


@then(
    "after any history of steps, crashes, rollbacks, undos and changed arguments, "
    "a plan's steps are those of the model"
)
def _(context):
    @MANY
    @given(stories())
    def agree(story):
        found = [
            (
                entry.step.name.key,
                entry.step.digest,
                str(entry.result.outcome) if entry.result else None,
                entry.reuses,
            )
            for entry in story.ledger.valid
        ]
        wanted = [(s.key, s.digest, s.ended, s.reuses) for s in replay(story.events)]
        assert found == wanted, story.events

    agree()


@then(
    "after any history at most one step of each name holds, "
    "and what holds is in the order of the starts"
)
def _(context):
    @MANY
    @given(stories())
    def one_each(story):
        names = [entry.step.name for entry in story.ledger.valid]
        assert len(names) == len(set(names)), names
        places = [entry.place for entry in story.ledger.entries]
        assert places == sorted(places)
        assert len(story.ledger.entries) == len(story.steps)
        last = story.ledger.last_succeeded
        ends = [e.completion.position for e in story.ledger.succeeded if e.completion]
        assert (last.completion.position if last and last.completion else None) == max(
            ends, default=None
        )

    one_each()


@then("for any history, a step is reused, run again, replaced or new exactly as the model says")
def _(context):
    @MANY
    @given(stories())
    def as_said(story):
        assert not story.wrong, story.wrong

    as_said()


@then(
    "for any history and any limit, the output that goes is the oldest that may go, "
    "and no more of it than must"
)
def _(context):
    @MANY
    @given(stories(), st.integers(0, 400))
    def oldest(story, limit):
        check_dropped(story, limit)

    oldest()


def kept_bytes(marks):
    return sum(mark.result.output_bytes for mark in marks if mark.result)


def check_dropped(story, limit):
    lineage, pending = story.lineage, {e.step.step_id for e in story.ledger.pending}
    seen = story.history.seen[story.history.current]
    newest = max(p for place, _ in story.checkpoints if place in seen for p in [place[1]])
    going = outputs_to_drop(
        story.marks, limit=limit, lineage=lineage, covered_until=newest, in_flight=pending
    )
    ended = [m for m in story.marks if m.kind is MarkKind.COMPLETED]
    on_timeline = [m for m in ended if (m.epoch, m.position) in seen]
    covered = [m for m in ended if m not in on_timeline or m.position < newest]
    may_go = [m for m in covered if m.step_id not in pending]
    assert going == may_go[: len(going)], "not the oldest that may go"
    left = kept_bytes(ended) - kept_bytes(going)
    assert left <= limit or len(going) == len(may_go), "too much was kept"
    if going:
        assert left + kept_bytes(going[-1:]) > limit, "more went than had to"


def _command_digest(*arguments):
    return command_digests(b"key", *arguments).now


def _call_digest(arguments):
    return call_digests(b"key", arguments).now


@then("any two different commands, directories or sets of variables have different digests")
def _(context):
    things = st.tuples(
        st.lists(LETTERS, max_size=3),
        LETTERS,
        st.dictionaries(LETTERS, st.none() | LETTERS, max_size=2),
    )

    @search(500)
    @given(things, things)
    def differ(one, other):
        assert (_command_digest(*one) == _command_digest(*other)) == (one == other)

    @search(300)
    @given(st.lists(LETTERS, min_size=2, max_size=4), st.integers(0, 3), st.data())
    def boundaries_matter(words, at, data):
        separator = data.draw(st.sampled_from(["", " ", ":", "\0", "1:", "/"]))
        at %= len(words) - 1
        joined = [*words[:at], separator.join(words[at : at + 2]), *words[at + 2 :]]
        assert _command_digest(words, "", {}) != _command_digest(joined, "", {})

    differ()
    boundaries_matter()


@then("any two different arguments of a function have different digests")
def _(context):
    json_values = st.recursive(
        st.none() | st.booleans() | st.integers() | LETTERS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LETTERS, inner, max_size=3),
        max_leaves=6,
    )

    @search(300)
    @given(json_values, json_values)
    def differ(one, other):
        # Python takes True for 1.
        assume(repr(one) != repr(other) and one != other)
        assert _call_digest(to_json(one)) != _call_digest(to_json(other))

    differ()


@then("these pairs of commands have different digests:")
def _(context):
    for row in context.table:
        one, other = json.loads(row["one"]), json.loads(row["other"])
        assert _command_digest(one, "", {}) != _command_digest(other, "", {}), row.cells


@then("a variable that is not set differs from an empty one")
def _(context):
    digests = {_command_digest(["x"], "", {"A": value}) for value in (None, "", "A")}
    assert len(digests | {_command_digest(["x"], "", {})}) == 4


@then('these keys are refused, with a sentence and a hint: "", " ", 201 letters')
def _(context):
    for key in ("", " ", "x" * 201):
        try:
            check_key(key)
        except UsageError as error:
            assert error.hint, error
        else:
            raise AssertionError(key)


@then("these keys name steps that differ: {keys}")
def _(context, keys):
    written = [key.replace("200 letters", "x" * 200) for key in keys.split(", ")]
    names = [StepName(check_key(key)) for key in written]
    assert all(one != other for one, other in combinations(names, 2))


@then("these values come back from JSON as they were: {values}")
def _(context, values):
    for value in json.loads(f"[{values}]"):
        assert from_json(to_json(value)) == value


@then("these cannot be recorded, and each says why: {names}")
def _(context, names):
    assert set(phrases.names(names)) == set(UNRECORDABLE)
    for name, value in UNRECORDABLE.items():
        try:
            to_json(value)
        except UnrecordableError as error:
            assert str(error), name
        else:
            raise AssertionError(name)
