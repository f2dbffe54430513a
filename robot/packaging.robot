*** Settings ***
Documentation       The installed wheel: both commands, its migrations, its database, no tracebacks.
Resource            resources/backtrail.resource
Suite Setup         Move In With A Repository
Suite Teardown      Move Out
Test Tags           packaging


*** Test Cases ***
Both Commands Tell The Version Of The Installed Distribution
    ${installed} =    Shell
    ...    python -c 'from importlib.metadata import version; print("backtrail", version("backtrail"))'
    ${plan} =    Shell    plan --version
    ${backtrail} =    Shell    backtrail --version
    Should Be Equal    ${plan.stdout}    ${installed.stdout}
    Should Be Equal    ${backtrail.stdout}    ${installed.stdout}

The Wheel And Not The Checkout Is Under Test
    ${place} =    Shell    python -c 'import backtrail; print(backtrail.__file__)'
    Should Contain    ${place.stdout}    site-packages

Help Is There For Every Command
    ${help} =    Shell    plan --help
    FOR    ${command}    IN
    ...    demo    create    list    status    path    save    checkpoint    diff    rollback    undo    redo    ops    db
        Should Match Regexp    ${help.stdout}    (?m)^│ ${command} +[A-Z]
    END

Asking For The Version Loads Nothing Heavy
    ${loaded} =    Shell    python -X importtime "$(command -v plan)" --version 2>&1
    Should Contain    ${loaded.stdout}    backtrail.cli.app
    Should Not Match Regexp    ${loaded.stdout}    (?m)\\| +(sqlalchemy|alembic|git)$

The Migrations Are Inside The Installed Package
    ${found} =    Shell
    ...    python -c 'import backtrail, pathlib; print(*sorted(p.name for p in (pathlib.Path(backtrail.__file__).parent / "migrations" / "versions").glob("*.py")))'
    Should Match Regexp    ${found.stdout}    ^0006_\\w+\\.py

The Database Can Be Found Looked At And Upgraded
    ${path} =    Shell    plan db path
    Should Be Equal    ${path.stdout}    ${REPO}/.git/backtrail/plan.db\n
    ${empty} =    Envelope Of    plan db status
    Should Be Equal    ${empty}[data][state]    empty
    Should Be Equal    ${empty}[data][revision]    ${None}
    ${upgraded} =    Envelope Of    plan db upgrade
    Should Be Equal    ${upgraded}[data][state]    current
    Should Be Equal    ${upgraded}[data][revision]    ${upgraded}[data][head]
    ${mode} =    Shell    ls -l '${REPO}/.git/backtrail/plan.db'
    Should Start With    ${mode.stdout}    -rw-------

A Database Of A Newer Version Is Refused And Left Alone
    Shell    plan create auth
    Shell    python -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("update alembic_version set version_num = 9999"); c.commit()' .git/backtrail/plan.db
    These Fail    10    storage_failed    plan list
    ${status} =    Envelope Of    plan db status
    Should Be Equal    ${status}[data][state]    newer

Garbage Gives A Sentence And No Traceback
    ${commands} =    Create List
    ...    plan rollback --wait soon
    ...    plan create
    ...    plan checkpoint create --meta novalue
    ...    PLAN_FORMAT=xml plan list
    ...    plan $(printf '\\377\\376')
    ...    plan list --format yaml
    FOR    ${command}    IN    @{commands}
        ${said} =    Shell    ${command}    code=2
        Should Be Empty    ${said.stdout}
        Should Start With    ${said.stderr}    error:
        Should Not Contain    ${said.stderr}    Traceback
    END

Output That Nobody Reads Is No Failure
    ${said} =    Shell    plan --help | head -n 1
    Should Be Empty    ${said.stderr}
    # What reads here has ended long before there is anything to read.
    ${said} =    Shell    { plan db path; echo "exit code $?" >&2; } | true
    Should Be Equal    ${said.stderr}    exit code 0\n

Output That Cannot Be Written Is A Failure
    ${said} =    Shell    plan db path >/dev/full    code=1
    Should Be Equal    ${said.stderr}    error: the output cannot be written: No space left on device\n

Standard Output May Be Closed
    ${said} =    Shell    plan db path >&-
    Should Be Empty    ${said.stderr}
