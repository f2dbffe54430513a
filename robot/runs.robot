*** Settings ***
Documentation       What only a shell and a terminal show of a run: Ctrl-C, streams, codes, signals.
Resource            resources/backtrail.resource
Suite Setup         A Plan To Run In
Suite Teardown      Move Out
Test Setup          Fresh Files
Test Tags           runs


*** Test Cases ***
Ctrl-C Ends The Run And Keeps Its Files
    ${screen} =    Terminal    plan run -- ./bad    begun    CTRL-C    code=130
    One Clear Line    ${screen}    was interrupted; its files are kept, plan rollback auth before:
    File Should Hold    ${SANDBOX}/src/cart.py    price = -1

Ctrl-C Ends The Run And Takes Its Files Back
    ${screen} =    Terminal    plan run --on-abort rollback -- ./bad    begun    CTRL-C    code=130
    One Clear Line    ${screen}    was interrupted; rolled back to checkpoint
    File Should Hold    ${SANDBOX}/src/cart.py    price = 1

Ctrl-C Counts Although The Command Makes A Success Of It
    ${screen} =    Terminal    plan run -- ./stubborn    begun    CTRL-C    code=130
    One Clear Line    ${screen}    was interrupted

A Command Can Ask And Be Answered On The Terminal
    ${screen} =    Terminal    plan run -- ./asks    Your name?    Ann
    Should Contain    ${screen}    Hello Ann from a terminal
    Should Not Contain    ${screen}    note:

Output Passes Through Byte For Byte And The Code Is The Command's Own
    ${said} =    Shell    plan run -- sh -c 'printf "a\\tb\\n"; printf err >&2; exit 42' 2>../err    code=42
    Should Be Equal    ${said.stdout}    a\tb\n
    ${words} =    Get File    ${PLACE}/my shop.plans/err
    Should Start With    ${words}    err
    Shell    plan run -- true | cat
    Shell    yes | plan run -- head -1 >/dev/null
    ${piped} =    Shell    echo from a pipe | plan run -- cat
    Should Be Equal    ${piped.stdout}    from a pipe\n

A Reader That Has Seen Enough Ends The Command And Not Backtrail
    Shell    plan run -- yes | head -1
    ${runs} =    Envelope Of    plan runs list --limit 1
    Should Be Equal    ${runs}[data][runs][0][status]    error
    Should Be Equal As Integers    ${runs}[data][runs][0][exit_code]    141

The Envelope And The Output Can Be Told Apart
    ${said} =    Shell    plan run --format json -- echo hello
    Should Contain    ${said.stderr}    hello
    Should Start With    ${said.stdout}    {
    ${said} =    Shell    plan run --result ../r.json -- echo hello
    Should Be Equal    ${said.stdout}    hello\n
    File Should Exist    ${PLACE}/my shop.plans/r.json

A Signal From Elsewhere Is An Abort
    ${said} =    Shell
    ...    : >../out; plan run --on-abort rollback -- ./bad >>../out & pid=$!; until grep -q begun ../out; do sleep 0.1; done; kill -TERM $pid; wait $pid
    ...    code=130
    Should Contain    ${said.stderr}    was interrupted; rolled back
    File Should Hold    ${SANDBOX}/src/cart.py    price = 1

What Is Killed Is Repaired By The Next Command
    Shell
    ...    : >../log; plan run -- ./bad >>../log 2>&1 & pid=$!; until grep -q begun ../log; do sleep 0.1; done; kill -9 $pid; wait $pid
    ...    code=137
    ${said} =    Shell    plan save
    Should Contain    ${said.stderr}    ended what run
    Should Contain    ${said.stderr}    plan resume auth


*** Keywords ***
A Plan To Run In
    Move In With A Repository
    ${sandbox} =    Create A Plan    auth
    VAR    ${SANDBOX}    ${sandbox}    scope=SUITE
    Go To    ${SANDBOX}
    Shell    printf '#!/bin/sh\\necho price = -1 >src/cart.py; echo begun; sleep 600\\n' >bad
    Shell    printf '#!/bin/sh\\ntrap "exit 0" INT; echo begun; while :; do sleep 0.1; done\\n' >stubborn
    Shell    printf '#!/bin/sh\\necho "Your name?"; read -r name; test -t 0 && echo "Hello $name from a terminal"\\n' >asks
    Shell    chmod +x bad stubborn asks && plan save --label ready

Fresh Files
    Shell    plan rollback ready --yes -q

One Clear Line
    [Documentation]    One line tells it, and nothing else does.
    [Arguments]    ${screen}    ${words}
    @{lines} =    Split To Lines    ${screen}
    ${told} =    Evaluate    [line for line in $lines if 'interrupted' in line]
    Length Should Be    ${told}    1    ${screen}
    Should Contain    ${told}[0]    ${words}
    Should Not Contain    ${screen}    Traceback
