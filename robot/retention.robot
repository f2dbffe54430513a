*** Settings ***
Documentation       A plan keeps what matters: limits, pins, pruning and deleting from a shell.
Resource            resources/backtrail.resource
Suite Setup         A Plan With Five Checkpoints
Suite Teardown      Move Out
Test Tags           retention


*** Test Cases ***
A Dry Run Tells What Pruning Then Does
    Shell    plan policy --keep-recent 1
    Shell    plan checkpoint pin 2
    ${told} =    Envelope Of    plan checkpoint prune --max 4 --dry-run
    ${all} =    Numbers Listed
    Should Be Equal    ${all}    ${{[1, 2, 3, 4, 5]}}
    ${done} =    Envelope Of    plan checkpoint prune --max 4 --yes
    Should Be Equal    ${told}[data][prune][removed]    ${done}[data][prune][removed]
    Should Be Equal    ${told}[data][prune][kept]    ${done}[data][prune][kept]
    ${left} =    Numbers Listed
    Should Be Equal    ${left}    ${{[1, 2, 4, 5]}}

Nothing Goes Unless Somebody Agrees
    These Fail
    ...    6    not_confirmed    plan checkpoint prune --max 3
    ...    6    not_confirmed    plan checkpoint delete 4
    ${screen} =    Terminal    plan checkpoint delete 4    Go on? [y/N]    n    code=6
    Should Contain    ${screen}    Plan auth loses 1 checkpoint for good:
    Should Contain    ${screen}    4.
    ${left} =    Numbers Listed
    Should Be Equal    ${left}    ${{[1, 2, 4, 5]}}
    ${screen} =    Terminal    plan checkpoint delete 4    Go on? [y/N]    y
    Should Contain    ${screen}    1 checkpoint removed from plan auth, 3 kept
    ${left} =    Numbers Listed
    Should Be Equal    ${left}    ${{[1, 2, 5]}}

What Is Needed Stays
    These Fail
    ...    5    refused    plan checkpoint delete first --yes
    ...    5    refused    plan checkpoint delete latest --yes
    ...    5    refused    plan checkpoint delete 2 --yes
    Shell    plan checkpoint unpin 2 && plan checkpoint delete 2 --yes
    ${left} =    Numbers Listed
    Should Be Equal    ${left}    ${{[1, 5]}}

Pruned Checkpoints Are Tombstones Without A Ref
    ${listed} =    Envelope Of    plan checkpoint list --all
    ${states} =    Evaluate    [c['state'] for c in $listed['data']['checkpoints']]
    Should Be Equal    ${states}    ${{['complete', 'pruned', 'pruned', 'pruned', 'complete']}}
    ${refs} =    Shell    git --git-dir='${REPO}/.git/backtrail/store.git' for-each-ref --format='%(refname)'
    ${count} =    Get Line Count    ${refs.stdout}
    Should Be Equal As Integers    ${count}    2


*** Keywords ***
A Plan With Five Checkpoints
    Move In With A Repository
    ${sandbox} =    Create A Plan    auth
    Go To    ${sandbox}
    FOR    ${number}    IN RANGE    2    6
        Write    src/cart.py    price = ${number}
        Shell    plan save
    END

Numbers Listed
    ${listed} =    Envelope Of    plan checkpoint list
    ${numbers} =    Evaluate    [c['seq'] for c in $listed['data']['checkpoints']]
    RETURN    ${numbers}
