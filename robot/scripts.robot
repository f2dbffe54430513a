*** Settings ***
Documentation       What a script relies on: exit codes, envelopes, one value, any directory.
Resource            resources/backtrail.resource
Suite Setup         Two Plans
Suite Teardown      Move Out
Test Setup          Go To    ${REPO}
Test Tags           scripts


*** Test Cases ***
A Failure Has Its Own Exit Code And Says So In JSON
    These Fail
    ...    1    failed    plan list -C '${PLACE}'
    ...    2    usage    plan create '../../not a name!'
    ...    2    usage    plan frobnicate
    ...    2    usage    plan status
    ...    2    usage    plan rollback auth --yes
    ...    3    not_found    plan rollback auth nothing --yes
    ...    4    ambiguous    plan rollback auth ${AMBIGUOUS} --yes
    ...    5    refused    plan rollback auth ${STRANGER} --yes
    ...    5    refused    cd '${AUTH}' && PLAN_ID=other plan rollback 1 --yes
    ...    6    not_confirmed    plan rollback auth 1
    ...    9    git_failed    GIT_PYTHON_GIT_EXECUTABLE=/nonexistent plan create other-git

Without A Terminal Nothing Is Asked And Nothing Changes
    Go To    ${AUTH}
    Write    src/cart.py    price = 3
    ${said} =    Shell    plan rollback 1    code=6
    Should Be Empty    ${said.stdout}
    Should Start With    ${said.stderr}    error: a rollback must be confirmed
    Should Contain    ${said.stderr}    hint: --yes confirms it
    File Should Hold    ${AUTH}/src/cart.py    price = 3

Status Can Answer With Its Exit Code And Save With One Value
    Go To    ${AUTH}
    Write    src/cart.py    price = 4
    ${changed} =    Envelope Of    plan status --exit-code    code=1
    Should Be Equal    ${changed}[status]    ok
    Should Be Equal
    ...    ${changed}[data][changes]
    ...    ${{[{'file': 'src/cart.py', 'action': 'modified', 'added': 1, 'removed': 1}]}}
    ${id} =    Shell    plan save --print id --format json
    Should Match Regexp    ${id.stdout}    ^[0-9A-HJKMNP-TV-Z]{26}\n$
    Should Be Empty    ${id.stderr}
    ${unchanged} =    Envelope Of    plan status --exit-code
    Should Be Equal    ${unchanged}[data][latest][checkpoint_id]\n    ${id.stdout}

The Plan Is Known From Where One Stands Or By Its Name
    These Print
    ...    ${AUTH}    cd '${AUTH}/src/lib' && plan path
    ...    ${AUTH}    cd '${REPO}/src/lib' && PLAN_ID=auth plan path
    ...    ${OTHER}    cd / && plan -C '${OTHER}/src' path

Data Goes To Standard Output And Talk To Standard Error
    Go To    ${AUTH}
    ${said} =    Shell    PLAN_ID=other plan path
    Should Be Equal    ${said.stdout}    ${OTHER}\n
    Should Start With    ${said.stderr}    note: PLAN_ID names plan other

A Busy Sandbox Is 8
    Hold Lock Of    ${REPO}/.git/backtrail/locks/${AUTH_ID}.lock
    These Fail    8    busy    plan save auth --wait 0
    Let Go

A Merge Whose Notes Cannot Be Saved Is 5 But All Else Can Be
    Go To    ${AUTH}
    Shell    ln -s HEAD '${REPO}/.git/worktrees/auth/MERGE_HEAD'
    These Fail    5    refused    plan rollback 1 --yes
    ${quiet} =    Shell    plan save -q -m 'in the middle of a merge'
    Should Be Empty    ${quiet.stdout}${quiet.stderr}
    [Teardown]    Remove File    ${REPO}/.git/worktrees/auth/MERGE_HEAD

A Rollback From A Subdirectory That It Empties Works
    Shell    mkdir '${AUTH}/neu ☃' && echo x >'${AUTH}/neu ☃/x.txt'
    Go To    ${AUTH}/neu ☃
    Shell    plan rollback first --yes
    File Should Not Exist    ${AUTH}/neu ☃/x.txt
    File Should Hold    ${AUTH}/src/cart.py    price = 1

A Missing Sandbox Is 7
    Remove Directory    ${OTHER}    recursive=True
    These Fail    7    sandbox_invalid    plan rollback other 1 --yes
    ${status} =    Envelope Of    plan status other --exit-code    code=7
    Should Be Equal    ${status}[status]    ok
    Should Contain    ${status}[data][problem]    is missing

A Damaged Database Is 10 And Is Left As It Is
    Create File    ${REPO}/.git/backtrail/plan.db    this is no database at all
    These Fail    10    storage_failed    plan list
    File Should Hold    ${REPO}/.git/backtrail/plan.db    this is no database at all    end=${EMPTY}


*** Keywords ***
Two Plans
    Move In With A Repository
    ${first_made} =    Envelope Of    plan create other
    ${then_made} =    Envelope Of    plan create auth
    VAR    ${OTHER}    ${first_made}[data][plan][sandbox][path]    scope=SUITE
    VAR    ${STRANGER}    ${first_made}[data][checkpoint][checkpoint_id]    scope=SUITE
    VAR    ${AUTH}    ${then_made}[data][plan][sandbox][path]    scope=SUITE
    VAR    ${AUTH_ID}    ${then_made}[data][plan][sandbox][sandbox_id]    scope=SUITE
    ${second} =    Shell    plan save auth --print id
    # The beginning that the ids of both checkpoints of the plan have in common.
    ${common} =    Evaluate
    ...    os.path.commonprefix([$second.stdout, $then_made['data']['checkpoint']['checkpoint_id']])    modules=os
    VAR    ${AMBIGUOUS}    ${common}    scope=SUITE
