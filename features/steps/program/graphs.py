"""Steps about properties of drawn histories: random ones, drawn and read back."""

from behave import then
from hypothesis import given
from hypothesis import strategies as st

from backtrail.cli.render.graph import ASCII, BOXES, graph_width, link_line, node_line
from backtrail.domain.history import View, history_of
from support.checkpoints.histories import histories
from support.program import drawings
from support.world.examples import search

MANY = search(100)


def _draw(history, pen, rows):
    """Lines of a graph as the program draws them, without words."""
    width = graph_width(rows)
    for entry, row in zip(history.entries, rows, strict=True):
        symbol = ("*" if entry.checkpoint.live else "o") if pen is ASCII else "●"
        yield node_line(row, pen, symbol, width)
        yield link_line(row, pen, width)


def _tree(model, *, tombstones):
    """The places that are shown, newest first, and for each the index of the one it grew from."""
    shown = model.shown(tombstones=tombstones)
    index = {place: number for number, place in enumerate(shown)}
    before = []
    for place in shown:
        seen = model.seen[place[0]]
        older = [index[p] for p in seen[: seen.index(place)] if p in index]
        before.append(older[-1] if older else None)
    return shown, before


def _history(model, *, tombstones):
    view = View(tombstones=tombstones)
    return history_of(model.plan(), model.checkpoints(), model.epochs, (), view)


@then(
    "any history is drawn newest first, each checkpoint once, and every line leads where it should"
)
def _(context):
    @MANY
    @given(histories(), st.booleans(), st.sampled_from([ASCII, BOXES]))
    def holds(model, tombstones, pen):
        history = _history(model, tombstones=tombstones)
        shown, before = _tree(model, tombstones=tombstones)
        assert [(e.checkpoint.epoch, e.checkpoint.position) for e in history.entries] == shown
        drawn = drawings.read(list(_draw(history, pen, history.graph())))
        assert [one.leads_to for one in drawn] == before
        follows = [shown[b][1] if b is not None else None for b in before]
        assert [e.follows.position if e.follows else None for e in history.entries] == follows

    holds()


@then("any history is drawn with the live line first and no more columns than it needs")
def _(context):
    @MANY
    @given(histories())
    def holds(model):
        history = _history(model, tombstones=True)
        shown, before = _tree(model, tombstones=True)
        live = [place in model.seen[model.current] for place in shown]
        rows = history.graph()
        assert [row.column == 0 for row in rows] == live
        assert max(row.column for row in rows) + 1 == _needed(live, before)

    holds()


def _needed(live, before):
    """The most columns that any row takes: the live line, lines to other rows, the row itself."""
    most = 1
    for row, is_live in enumerate(live):
        passing = {b for b in before[:row] if b is not None and b > row}
        above = [before[r] for r in range(row) if live[r]]
        passing -= set(above[-1:])
        most = max(most, 1 + len(passing) + (not is_live))
    return most


@then("any history is drawn within the columns that there are, and only then lines fade")
def _(context):
    @MANY
    @given(histories(), st.integers(3, 8))
    def holds(model, columns):
        history = _history(model, tombstones=True)
        _, before = _tree(model, tombstones=True)
        rows = history.graph(max_columns=columns)
        assert max(row.column for row in rows) < columns
        drawn = drawings.read(list(_draw(history, BOXES, rows)))
        for one, wanted in zip(drawn, before, strict=True):
            assert one.fades if one.leads_to is None and wanted is not None else not one.fades
            assert one.leads_to in (wanted, None)
        needed = max(row.column for row in history.graph()) + 1
        assert any(one.fades for one in drawn) == (needed > columns)

    holds()
