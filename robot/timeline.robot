*** Settings ***
Documentation       The timeline as a drawing: at eighty columns, on a terminal, in a pipe, for a script.
Resource            resources/backtrail.resource
Suite Setup         A Plan That Went Back And Forth
Suite Teardown      Move Out
Test Tags           timeline


*** Test Cases ***
At Eighty Columns Each Checkpoint Has Two Lines
    ${log} =    Shell    COLUMNS=80 plan log --format rich
    Should Be Empty    ${log.stderr}
    ${lines} =    Split To Lines    ${log.stdout}
    Length Should Be    ${lines}    14
    ${widest} =    Evaluate    max(map(len, $lines))
    Should Be Equal As Integers    ${widest}    80    msg=the long reason is cut, and nothing is wider
    Should Match Regexp    ${lines}[0]    ^◆ +7 {2}\\(latest\\) undo to 4$
    Should Match Regexp    ${lines}[1]    ^│ +(just now|\\d+ minutes? ago) · rollback · 2 files$
    Should Match Regexp    ${lines}[4]    ^│ ○ +5 {2}rollback to 2 \\[good\\]: it went wrong .*…$
    Should Match Regexp    ${lines}[5]    ^│ │ .* · rollback · 2 files$
    Should Match Regexp    ${lines}[8]    ^● │ +3 {2}a mess$
    Should Match Regexp    ${lines}[9]    ^├─╯ .* · manual · 2 files$
    Should Match Regexp    ${lines}[10]    ^● +2 {2}\\[good\\] \\(pinned\\) all is well$

On A Terminal It Is Drawn
    ${screen} =    Terminal    plan log --limit 3
    Should Match Regexp    ${screen}    (?m)^◆ +7 {2}\\(latest\\) undo to 4$
    Should Match Regexp    ${screen}    (?m)^┊ ┊$
    Should Contain    ${screen}    Not shown: 4 older

Where Only ASCII Can Be Shown There Is Nothing Else
    ${log} =    Shell    PYTHONIOENCODING=ascii COLUMNS=80 plan log --format rich
    ${lines} =    Split To Lines    ${log.stdout}
    Should Match Regexp    ${lines}[0]    ^@ +7 {2}\\(latest\\) undo to 4$
    Should Match Regexp    ${lines}[9]    ^\\|/ .*, manual, 2 files$
    ${widest} =    Evaluate    max(map(len, $lines))
    Should Be Equal As Integers    ${widest}    80
    Should Be True    $log.stdout.isascii() and '\\\\' not in $log.stdout

In A Pipe It Is Plain And May Be Cut Short
    ${log} =    Shell    plan log | head -n 2 | cut -c 1-6
    Should Be Equal    ${log.stdout}    @${SPACE * 4}7\n| o${SPACE * 2}6\n
    Should Be Empty    ${log.stderr}

A Script Finds What A Rollback Brought Back
    ${answer} =    Envelope Of    plan log --live
    VAR    ${entries}    ${answer}[data][entries]
    ${live} =    Evaluate    [e['checkpoint']['seq'] for e in $entries]
    Should Be Equal    ${live}    ${{[7, 4, 3, 2, 1]}}
    Should Be Equal    ${entries}[0][came_from][kind]    undo
    Should Be Equal As Integers    ${entries}[0][came_from][seq]    4
    Should Be Equal    ${entries}[0][latest]    ${True}
    Should Be Equal    ${answer}[data][left_out]    ${{{'superseded': 2, 'tombstones': 0, 'older': 0}}}


*** Keywords ***
A Plan That Went Back And Forth
    Move In With A Repository
    ${sandbox} =    Create A Plan    auth
    Go To    ${sandbox}
    Write    src/cart.py    price = 2
    Shell    plan save -m 'all is well' --label good --pin
    Write    src/cart.py    price = -1
    Write    src/mess.py    oh no
    Shell    plan save -m 'a mess'
    Shell    plan rollback good --yes -m 'it went wrong and there is a lot more to say about it than fits here'
    Shell    plan undo
