"""Steps about plans that come out of another plan."""

from behave import given, then

from backtrail.domain.plan import PlanState
from support.world import phrases


@given('child plan "{name:Text}" has become "{state:Text}"')
def _(context, name, state):
    with context.world.services() as services:
        plan = services.plans.resolve(name)
        with services.workspace.database.write() as uow:
            uow.plans.set_state(plan.plan_id, plan.phase, PlanState(state))


@then("the states of plans are: {listed}")
def _(context, listed):
    with context.world.services() as services:
        found = {f"{plan.name} {plan.state}" for plan in services.plans.list_plans()}
    assert found == set(phrases.names(listed)), found
