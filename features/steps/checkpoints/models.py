"""Steps about properties: random histories and random work against naive models."""

from behave import then
from hypothesis import given
from hypothesis import strategies as st

from backtrail.domain.ids import OperationId
from backtrail.domain.operation import Stacks
from backtrail.domain.timeline import TimelineChange, lineage_of, next_epoch_number, supersessions
from support.checkpoints import models
from support.checkpoints.histories import histories
from support.world.examples import search

MANY = search(100)


class SteadyRules(models.PlanMachine):
    """The ignore rules stay as they are."""

    rules_change = False


@then("a plan and its model agree after each of {steps:d} random steps, {times:d} times over")
def _(context, steps, times):
    models.check(SteadyRules, examples=times, steps=steps)


@then(
    "a plan and its model agree after each of {steps:d} random steps, {times:d} times over, "
    "while ignore rules change"
)
def _(context, steps, times):
    models.check(models.PlanMachine, examples=times, steps=steps)


@then("for any tree of epochs, a lineage holds exactly what copying whole histories gives")
def _(context):
    @MANY
    @given(histories())
    def holds(history):
        for number in history.epochs:
            lineage = lineage_of(number, history.epochs)
            held = [place for place in history.places if lineage.contains(*place)]
            assert held == history.seen[number]
            assert lineage.epoch == number

    holds()


@then("for any tree of epochs, branching off a lineage is the same as reading it from the epochs")
def _(context):
    @MANY
    @given(histories(), st.integers(0, 1000))
    def same(history, wish):
        epoch, position = history.places[wish % len(history.places)]
        number = next_epoch_number(history.epochs)
        branched = lineage_of(epoch, history.epochs).branch(position, number)
        history.go_to((epoch, position))
        assert history.current == number
        assert branched == lineage_of(number, history.epochs)

    same()


@then("for any tree of epochs, the marks that change make exactly the lineage's rows live")
def _(context):
    @MANY
    @given(histories(), st.data())
    def follow(history, data):
        marks = {
            place: data.draw(st.sampled_from([None, OperationId("earlier")]))
            for place in history.places
        }
        rows = history.rows(marks)
        lineage = lineage_of(history.current, history.epochs)
        changes = supersessions(rows, lineage, OperationId("now"))
        for row in rows:
            after = changes.get(row.checkpoint_id, row.superseded_by)
            live = (row.epoch, row.position) in history.seen[history.current]
            assert (after is None) == live
            if row.superseded_by is not None and not live:
                assert after == row.superseded_by, "an earlier mark was written over"
            assert changes.get(row.checkpoint_id, "-") != row.superseded_by, "no change at all"

    follow()


@then("for any two lineages, what leaves is what is complete, live now and not live then")
def _(context):
    @MANY
    @given(histories(), st.integers(0, 1000), st.integers(0, 1000))
    def leaves(history, one, other):
        numbers = list(history.epochs)
        now, then_ = numbers[one % len(numbers)], numbers[other % len(numbers)]
        rows = history.rows({})
        gone = TimelineChange(
            lineage_of(now, history.epochs), lineage_of(then_, history.epochs)
        ).leaving(rows)
        wanted = set(history.seen[now]) - set(history.seen[then_])
        wanted = {place for place in wanted if place[1] % 5}
        assert {(row.epoch, row.position) for row in gone} == wanted

    leaves()


@then(
    "any order of rollbacks, undos and redos, some of them failing, "
    "leaves the stacks of two plain lists"
)
def _(context):
    @MANY
    @given(
        st.lists(st.tuples(st.sampled_from(["rollback", "undo", "redo"]), st.booleans())),
        st.integers(1, 4),
    )
    def agree(deeds, depth):
        stacks = Stacks()
        undo: list[tuple[OperationId, bool]] = []
        redo: list[tuple[OperationId, bool]] = []
        for number, (deed, fails) in enumerate(deeds):
            name = OperationId(str(number))
            if deed == "rollback":
                stacks = stacks.restoring(name, depth=depth)
                undo, redo = [*undo, (name, fails)][-depth:], []
            elif deed == "undo" and undo and not fails:
                entry, entry_failed = undo.pop()
                stacks = stacks.undone(name, entry, entry_failed=entry_failed)
                redo += [] if entry_failed else [(name, False)]
            elif deed == "redo" and redo and not fails:
                entry, _ = redo.pop()
                stacks = stacks.redone(name, entry, depth=depth)
                undo = [*undo, (name, False)][-depth:]
            assert stacks.undo == tuple(n for n, _ in undo)
            assert stacks.redo == tuple(n for n, _ in redo)

    agree()
