"""Steps about a script that is killed again and again."""

from behave import then, when

from support.runs.step_chaos import STEPS, Chaos


@when("a script of 20 steps is killed at random moments, and run again until it is through")
def _(context):
    context.chaos = Chaos(context.world)
    context.chaos.run()


@then("every time the sandbox held what the commands make when nobody disturbs them")
def _(context):
    assert not context.chaos.wrong, "\n".join(context.chaos.wrong)


@then("every step was completed exactly once, and no command ran again after that")
def _(context):
    for plan in context.chaos.plans:
        marks = context.chaos.marks(plan)
        ends = {m["key"]: m["position"] for m in marks if m["kind"] == "completed"}
        assert len(ends) == STEPS, (context.chaos.seed, ends)
        assert sum(m["kind"] == "completed" for m in marks) == STEPS, marks
        late = [m for m in marks if m["kind"] == "started" and m["position"] > ends[m["key"]]]
        assert not late, (context.chaos.seed, late)


@then("no command ran more often than its step was started")
def _(context):
    for plan in context.chaos.plans:
        keys = [m["key"] for m in context.chaos.marks(plan) if m["kind"] == "started"]
        for key in set(keys):
            times = context.chaos.times(plan, key)
            assert 1 <= times <= keys.count(key), (context.chaos.seed, key, times)
