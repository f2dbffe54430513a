*** Settings ***
Documentation       The demonstration, from the installed wheel: for somebody who has nothing yet.
Resource            resources/backtrail.resource
Suite Setup         Move In Without A Repository
Suite Teardown      Move Out
Test Tags           demo


*** Test Cases ***
It Needs No Environment And No Identity
    ${told} =    Shell    env -i TMPDIR="$PWD/tmp" "$(command -v plan)" demo
    Should Be Empty    ${told.stderr}
    FOR    ${command}    IN
    ...    plan create auth    plan rollback good --yes    plan undo    plan redo
        Should Contain    ${told.stdout}    $ ${command}\n
    END
    Should Match Regexp    ${told.stdout}    All of it exact, in [\\d.]+ s; nothing is left behind\n$
    Nothing Is Left Behind

On A Terminal It Fits Eighty Columns
    ${screen} =    Terminal    env COLUMNS=80 TMPDIR="$PWD/tmp" plan demo
    Should Match Regexp    ${screen}    (?m)^ +chmod +chmod -x deploy.sh +✓ executable again
    Should Match Regexp    ${screen}    (?m)^╭─ What you have seen ─+╮$
    ${wide} =    Evaluate    [line for line in $screen.splitlines() if len(line.rstrip()) > 80]
    Should Be Empty    ${wide}
    Nothing Is Left Behind

Ctrl-C Ends It At Once And Leaves Nothing Behind
    ${screen} =    Terminal    env TMPDIR="$PWD/tmp" plan demo    plan create auth    CTRL-C    code=130
    Should Contain    ${screen}    interrupted
    Should Not Contain    ${screen}    Traceback
    Nothing Is Left Behind

What Is Kept Can Be Played With
    ${answer} =    Envelope Of    env TMPDIR="$PWD/tmp" plan demo --keep
    Go To    ${answer}[data][demo][sandbox]
    ${saved} =    Picture Of    ${answer}[data][demo][sandbox]
    Shell    sh ../../agent.sh
    Shell    plan rollback good --yes
    ${now} =    Picture Of    ${answer}[data][demo][sandbox]
    Pictures Should Match    ${saved}    ${now}


*** Keywords ***
Move In Without A Repository
    ${place} =    Move In
    VAR    ${PLACE}    ${place}    scope=SUITE
    Shell    mkdir tmp

Nothing Is Left Behind
    ${found} =    Shell    ls -A tmp
    Should Be Empty    ${found.stdout}
