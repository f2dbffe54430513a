"""Steps about directories that are exchanged for links while they are worked on."""

from behave import given, then, when

from support import races
from support.examples import rounds


@given("two checkpoints that differ below a directory, and a directory outside with the same names")
def _(context):
    context.races = races.Races(context.world, context.world.root / "outside")
    races.prepare(context.world, context.races.outside)


@when("rollbacks race with a process that exchanges it for a link to there: {where}")
def _(context, where):
    context.races.run(rounds(10), link_in_sandbox=where == "the link is in the sandbox")


@then("every rollback succeeds, or fails with 9 or 11, and nothing outside was touched")
def _(context):
    outcomes = context.races.outcomes
    touched = [outcome for outcome in outcomes if outcome.touched]
    odd = [outcome for outcome in outcomes if outcome.code not in races.ALLOWED]
    told = (
        f"{dict(context.races.codes)}, {len(touched)} of {len(outcomes)} touched something outside"
    )
    print(told)  # noqa: T201 - behave shows it if the step fails, or if asked to
    assert not touched and not odd, f"{told}: {touched[:3]} {odd[:3]}"
