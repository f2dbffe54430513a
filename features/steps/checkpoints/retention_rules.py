"""Steps about the pure rules of retention: what is kept, what goes, and in which order."""

import json
from dataclasses import replace
from datetime import timedelta
from functools import partial

from behave import then
from hypothesis import given, settings
from hypothesis import strategies as st

from backtrail.domain.errors import UsageError
from backtrail.domain.quantities import parse_age, parse_size
from backtrail.domain.retention import CheckpointRetentionPolicy, decide, stored_retention
from backtrail.domain.timeline import brought_back
from support.checkpoints.histories import histories
from support.checkpoints.retentions import NOW, ORDER, ROLLBACK_TYPES, cases
from support.world import drive

MANY = settings(max_examples=150, deadline=None, database=None, print_blob=True)


def _ids(entries):
    return [entry.checkpoint.checkpoint_id for entry in entries]


def _size(entries):
    return sum(entry.checkpoint.size_bytes or 0 for entry in entries)


@then("every checkpoint is either kept or removed, once and with a reason")
def _(context):
    @MANY
    @given(cases())
    def holds(case):
        decision = case.decided()
        judged = _ids(decision.kept) + _ids(decision.removed)
        assert sorted(judged) == sorted(row.checkpoint_id for row in case.rows)
        assert decision.kept, "nothing would be left"
        assert all(entry.reason for entry in (*decision.kept, *decision.removed))

    holds()


@then("what the design keeps always is kept, whatever the limits are")
def _(context):
    @MANY
    @given(cases())
    def holds(case):
        decision = case.decided()
        assert case.spared() <= set(_ids(decision.kept))
        spared = {e.checkpoint.checkpoint_id for e in decision.kept if e.reason != "within_limits"}
        assert spared == case.spared(), "the reason given is not the reason"

    holds()


@then("the limits hold, or all that is left is protected and the decision says by how much")
def _(context):
    @MANY
    @given(cases())
    def holds(case):
        decision, policy = case.decided(), case.policy
        over = max(0, len(decision.kept) - policy.max_checkpoints)
        over_bytes = max(0, _size(decision.kept) - (policy.max_bytes or 10**9))
        assert (decision.over_limit, decision.over_bytes) == (over, over_bytes)
        if over or over_bytes:
            assert set(_ids(decision.kept)) == case.spared()

    holds()


@then("the number is exceeded by what was named, is needed or can be undone, and by nothing else")
def _(context):
    @MANY
    @given(cases(limits=False))
    def holds(case):
        decision, most = case.decided(), case.policy.max_checkpoints
        usual = [e for e in decision.kept if not _was_asked_for(case, e.checkpoint)]
        # The first, the latest and the green one are kept of a plan that may have one alone.
        assert len(usual) <= max(most, 3), (most, usual)

    holds()


def _was_asked_for(case, row):
    return row.pinned or row.label or row.checkpoint_id in case.protected.needed


@then("what cannot be restored goes first, unless it was named or is needed, and never counts")
def _(context):
    @MANY
    @given(cases(), st.integers(0, 1000))
    def holds(case, wish):
        broken = [row for row in case.rows if row.position % 3 == wish % 3]
        whole = replace(case, rows=tuple(row for row in case.rows if row not in broken))
        decision = decide(whole.rows, case.policy, case.protected, NOW, broken)
        useless = [row for row in broken if not _was_asked_for(case, row)]
        first = [entry.checkpoint for entry in decision.removed[: len(useless)]]
        assert first == sorted(useless, key=lambda row: row.position)
        assert all(entry.reason == "broken" for entry in decision.removed[: len(useless)])
        assert decision.kept == whole.decided().kept
        assert decision.removed[len(useless) :] == whole.decided().removed

    holds()


@then("no more goes than the limits demand")
def _(context):
    @MANY
    @given(cases())
    def holds(case):
        decision, policy = case.decided(), case.policy
        for last in [e for e in decision.removed if e.reason != "too_old"][-1:]:
            too_many = len(decision.kept) + 1 > policy.max_checkpoints
            too_big = _size((*decision.kept, last)) > (policy.max_bytes or 10**9)
            assert too_many or too_big, "the last to go could have stayed"

    holds()


@then("too old is all that is older than the limit and not protected, and nothing else")
def _(context):
    @MANY
    @given(cases())
    def holds(case):
        age = case.policy.max_age
        old = {r.checkpoint_id for r in case.rows if age and NOW - r.created_at > age}
        removed = case.decided().removed
        assert {i for e in removed if e.reason == "too_old" for i in _ids([e])} == (
            old - case.spared()
        )

    holds()


@then("checkpoints go in the order of the design, oldest first among equals")
def _(context):
    @settings(MANY, max_examples=500)
    @given(cases(limits=False))
    def holds(case):
        decision = case.decided()
        went = [(ORDER.index(e.reason), e.checkpoint.position) for e in decision.removed]
        assert went == sorted(went)
        for entry in decision.removed:
            if entry.reason == "same_files":
                _check_same_files(case, entry.checkpoint)
            else:
                assert case.place_in_order(entry.checkpoint)[0] == ORDER.index(entry.reason)
        _check_nothing_was_passed_over(case, decision)

    holds()


def _check_same_files(case, row):
    assert row.checkpoint_type in ROLLBACK_TYPES
    assert case.has_stayer_with_files_of(row)


def _check_nothing_was_passed_over(case, decision):
    left = [e.checkpoint for e in decision.kept if e.reason == "within_limits"]
    went = [e.checkpoint for e in decision.removed if e.reason != "same_files"]
    for row in went:
        assert all(case.place_in_order(row) < case.place_in_order(stays) for stays in left)
    rollbacks = [row for row in left if row.checkpoint_type in ROLLBACK_TYPES]
    assert not (went and any(case.has_stayer_with_files_of(row) for row in rollbacks))


@then("a higher limit keeps all that a lower one keeps")
def _(context):
    @MANY
    @given(cases(limits=False), st.integers(1, 10))
    def holds(case, more):
        higher = case.with_limit(case.policy.max_checkpoints + more)
        assert set(_ids(case.decided().kept)) <= set(_ids(higher.decided().kept))

    holds()


@then("deciding again on what was kept removes nothing, and the order of the rows does not matter")
def _(context):
    @MANY
    @given(cases(), st.randoms(use_true_random=False))
    def holds(case, chance):
        decision = case.decided()
        kept = tuple(entry.checkpoint for entry in decision.kept)
        assert not replace(case, rows=kept).decided().removed
        shuffled = list(case.rows)
        chance.shuffle(shuffled)
        assert replace(case, rows=tuple(shuffled)).decided() == decision

    holds()


@then("for any history, what undo or redo would revive is what its copy of the past holds")
def _(context):
    @MANY
    @given(histories(), st.lists(st.integers(0, 1000), max_size=4))
    def holds(history, wishes):
        safeties = [history.places[wish % len(history.places)] for wish in wishes]
        limits = brought_back(safeties, history.epochs)
        wanted = set()
        for epoch, position in safeties:
            before = history.seen[epoch]
            wanted.update(before[: before.index((epoch, position)) + 1])
        found = {(e, p) for e, p in history.places if p <= limits.get(e, 0)}
        assert found == wanted

    holds()


@then("these limits are refused, with a sentence and a hint:")
def _(context):
    for row in context.table:
        value = json.loads(row["value"])
        limit = {row["limit"]: timedelta(seconds=value) if row["limit"] == "max_age" else value}
        error = drive.refusal(partial(CheckpointRetentionPolicy, **limit))
        assert isinstance(error, UsageError), row
        assert row["limit"] in error.message, error.message
        assert error.hint, row


@then("the usual limits are: {limits}")
def _(context, limits):
    found = CheckpointRetentionPolicy().limits()
    assert ", ".join(f"{name} {value}" for name, value in found.items()) == limits, found


@then("these are spans of time and amounts of bytes:")
def _(context):
    for row in context.table:
        if row["is"].endswith("seconds"):
            found = f"{parse_age(row['written']).total_seconds():.0f} seconds"
        else:
            found = f"{parse_size(row['written'])} bytes"
        assert found == row["is"], (row, found)


@then("these are neither: {written}")
def _(context, written):
    for text in written.split(", "):
        for parse in (parse_age, parse_size):
            error = drive.refusal(parse, "" if text == "nothing" else text)
            assert isinstance(error, UsageError), (parse, text)


@then("whatever a plan's row holds as its policy, limits come of it")
def _(context):
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=5,
    )
    limits = st.dictionaries(st.sampled_from([*CheckpointRetentionPolicy().limits(), "x"]), values)

    @MANY
    @given(st.dictionaries(st.sampled_from(["retention", "corrupt", "x"]), values | limits))
    def holds(stored):
        found = stored_retention(stored, CheckpointRetentionPolicy())
        if found.problem:
            assert found.policy == CheckpointRetentionPolicy()
        else:
            wanted = stored.get("retention", {})
            shown = found.policy.limits()
            assert all(shown[name] == wanted[name] for name in found.own)

    holds()
