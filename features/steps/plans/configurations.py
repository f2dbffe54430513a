"""Steps about `plan.toml`."""

import json
import shlex

from behave import given, then

from backtrail.config.configuration import read_configuration
from backtrail.config.keys import SECTIONS
from backtrail.config.place import Place
from backtrail.domain.settings import Settings
from support.plans import configurations
from support.program.answers import check_refusal
from support.program.forked import run_forked
from support.world import evidence, phrases
from support.world.world import write_files


@then("each of these in place of plan.toml is refused:")
def _(context):
    world = context.world
    context.before = evidence.collect(world)
    wrong = []
    for row in context.table:
        configurations.put(world, row["plan.toml"])
        ran = run_forked(world, "save", "auth", "--format", "json")
        assert ran.code == 2, f"{row['plan.toml']}: {ran}"
        check_refusal("json", ran, 2)
        error = ran.json()["error"]
        told = (row["says"] in error["message"], row["hint"] in error["hint"])
        if not all(told) or str(world.repo / "plan.toml") not in error["message"]:
            wrong.append(f"{row['plan.toml']}: {error}")
    configurations.take_away(world)
    assert not wrong, "\n".join(wrong)


@given("nobody may read plan.toml")
def _(context):
    (context.world.repo / "plan.toml").chmod(0)


@given('a repository "{name:Text}" with this plan.toml: "{text:Text}"')
def _(context, name, text):
    context.world.beside(name).make_repository()
    write_files(context.world.beside(name).repo, {"plan.toml": text})


@given(
    'a repository "{name:Text}" whose git directory is elsewhere, '
    'with this plan.toml beside the files: "{text:Text}"'
)
def _(context, name, text):
    other = context.world.beside(name)
    other.make_repository()
    context.git_dir = context.world.root / f"{name}.git"
    other.git("init", "--quiet", f"--separate-git-dir={context.git_dir}")
    write_files(other.repo, {"plan.toml": text})
    context.unread = other.repo / "plan.toml"


@given("that plan.toml is moved to the git directory")
def _(context):
    context.unread.rename(context.git_dir / "plan.toml")


@then("these work all the same: {commands}")
def _(context, commands):
    for command in phrases.names(commands):
        run_forked(context.world, *shlex.split(command)[1:]).ok()


@then("these exit with {code:d}: {commands}")
def _(context, code, commands):
    for command in phrases.names(commands):
        ran = run_forked(context.world, *shlex.split(command)[1:])
        assert ran.code == code, ran


@then("all settings come from: {source}")
def _(context, source):
    settings = context.ran.json()["data"]["settings"]
    assert len(settings) > len(SECTIONS), settings
    # Where the tests keep the rows is the tests' affair.
    assert {s["source"] for s in settings if s["key"] != "database"} == {source}, settings


@then("a section with everything as usual stands for no section at all")
def _(context):
    """What the table of keys says is usual is what the values say."""
    text = "".join(
        f"[{section.name}]\n"
        + "".join(
            f"{key.name} = {json.dumps(key.kind.shown(section.default(key.name)))}\n"
            for key in section.keys
            if section.default(key.name) is not None
        )
        for section in SECTIONS
    )
    write_files(context.world.repo, {"plan.toml": text})
    place = Place(context.world.repo, context.world.repo / ".git", None)
    found = read_configuration(place)
    assert found.found, found
    assert found.settings == Settings(), found


@then("these settings are in force:")
def _(context):
    found = {s["key"]: s for s in context.ran.ok().json()["data"]["settings"]}
    world = context.world
    for row in context.table:
        value = row["value"].replace("{home}", str(world.home))
        origin = row["origin"].replace("{file}", str(world.repo / "plan.toml")) or None
        setting = found[row["key"]]
        assert setting["value"] == json.loads(value), setting
        assert (setting["source"], setting["origin"]) == (row["source"], origin), setting
