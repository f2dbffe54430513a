*** Settings ***
Documentation       The first ten minutes: a plan, checkpoints, a rollback, and back again.
Resource            resources/backtrail.resource
Suite Setup         Move In With A Repository
Suite Teardown      Move Out
Test Tags           first-steps


*** Test Cases ***
A Plan Has A Sandbox Of Its Own And A First Checkpoint
    ${answer} =    Envelope Of    plan create auth
    Should Be Equal    ${answer}[command]    create
    Should Be Equal    ${answer}[status]    ok
    Should Be Equal As Integers    ${answer}[schema_version]    1
    Should Be Equal    ${answer}[error]    ${None}
    Should Be Empty    ${answer}[messages]
    Should Match Regexp    ${answer}[timing][started]    ^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$
    Should Be True    ${answer}[timing][duration_ms] > 0
    VAR    ${plan}    ${answer}[data][plan]
    Should Be Equal    ${plan}[sandbox][branch]    plan/auth
    Should Be Equal    ${plan}[sandbox][path]    ${PLACE}/my shop.plans/auth
    ${head} =    Shell    git rev-parse HEAD
    Should Be Equal    ${plan}[sandbox][base_commit]\n    ${head.stdout}
    Should Be Equal    ${answer}[data][checkpoint][checkpoint_type]    initial
    Should Be Equal As Integers    ${answer}[data][checkpoint][seq]    1
    VAR    ${SANDBOX}    ${plan}[sandbox][path]    scope=SUITE
    ${mine}    ${theirs} =    Both Pictures
    Pictures Should Match    ${mine}    ${theirs}

Checkpoints Have A Number A Reason And A Label
    Go To    ${SANDBOX}
    Write    src/login.py    first try
    ${second} =    Envelope Of    plan save -m 'first try' --label try-1
    Write    src/login.py    second try
    Write    src/cart.py    price = 2
    ${third} =    Envelope Of    plan checkpoint create -m 'second try'
    Should Be Equal    ${second}[command]    save
    Should Be Equal    ${third}[command]    checkpoint create
    Should Be Equal    ${second}[data][checkpoint][label]    try-1
    Should Be Equal    ${second}[data][checkpoint][metadata][reason]    first try
    Should Be Equal As Integers    ${second}[data][checkpoint][seq]    2
    Should Be Equal As Integers    ${third}[data][checkpoint][seq]    3
    VAR    ${SECOND}    ${second}[data][checkpoint]    scope=SUITE
    VAR    ${THIRD}    ${third}[data][checkpoint]    scope=SUITE
    ${now} =    Picture Of    ${SANDBOX}
    VAR    ${LATER}    ${now}    scope=SUITE

A Rollback Brings A Checkpoint Back And Says What It Did
    ${answer} =    Envelope Of    plan rollback try-1 --yes
    VAR    ${data}    ${answer}[data]
    ${parts} =    Evaluate    list($data)
    Should Be Equal
    ...    ${parts}
    ...    ${{['rollback_summary', 'changes_reverted', 'left_alone', 'gone_since', 'impact', 'post_rollback_state']}}
    VAR    ${summary}    ${data}[rollback_summary]
    Should Be Equal    ${summary}[plan]    auth
    Should Be Equal    ${summary}[checkpoint]    ${SECOND}[checkpoint_id]
    Should Be Equal    ${summary}[label]    try-1
    Should Be Equal As Integers    ${summary}[files_reverted]    2
    Should Be Equal    ${summary}[verified]    ${True}
    Should Be Equal
    ...    ${data}[changes_reverted]
    ...    ${{[{'file': 'src/cart.py', 'action': 'restored'}, {'file': 'src/login.py', 'action': 'restored'}]}}
    Should Be Equal As Integers    ${data}[impact][checkpoints_superseded]    1
    Should Be Equal    ${data}[impact][sandbox]    ${SANDBOX}
    Should Be Equal
    ...    ${data}[post_rollback_state]
    ...    ${{{'phase': 'execute', 'state': 'queued', 'checkpoints_remaining': 3}}}
    File Should Hold    ${SANDBOX}/src/login.py    first try
    File Should Hold    ${SANDBOX}/src/cart.py    price = 1
    VAR    ${RESTORED}    ${summary}[restored_checkpoint]    scope=SUITE

Latest Is The Restored Checkpoint In A New Process
    ${shown} =    Envelope Of    plan checkpoint show latest
    VAR    ${latest}    ${shown}[data][checkpoint]
    Should Be Equal    ${latest}[checkpoint_id]    ${RESTORED}
    Should Not Be Equal    ${latest}[checkpoint_id]    ${SECOND}[checkpoint_id]
    Should Be Equal    ${latest}[metadata][tree]    ${SECOND}[metadata][tree]
    Should Not Be Equal    ${latest}[metadata][tree]    ${THIRD}[metadata][tree]

Later Checkpoints Are Superseded And Still Listed With All
    ${listed} =    Envelope Of    plan checkpoint list --all
    ${numbers} =    Evaluate    [c['seq'] for c in $listed['data']['checkpoints']]
    Should Be Equal    ${numbers}    ${{[1, 2, 3, 4, 5]}}    msg=oldest first
    ${states} =    Evaluate    {c['state'] for c in $listed['data']['checkpoints']}
    Should Be Equal    ${states}    ${{{'complete'}}}
    ${superseded} =    Evaluate    [c['seq'] for c in $listed['data']['checkpoints'] if not c['live']]
    Should Be Equal    ${superseded}    ${{[3, 4]}}

Undo Brings Back The Later Bytes And Their Place On The Timeline
    ${answer} =    Envelope Of    plan undo
    Should Be Equal    ${answer}[data][rollback_summary][operation]    undo
    ${now} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${LATER}    ${now}
    ${listed} =    Envelope Of    plan checkpoint list
    ${live} =    Evaluate    [c['seq'] for c in $listed['data']['checkpoints']]
    Should Be Equal    ${live}    ${{[1, 2, 3, 4, 7]}}
    Should Be Equal    ${listed}[data][checkpoints][2][checkpoint_id]    ${THIRD}[checkpoint_id]

Redo Rolls Back Again
    Shell    plan redo
    File Should Hold    ${SANDBOX}/src/login.py    first try
    File Should Hold    ${SANDBOX}/src/cart.py    price = 1

The Log Names Every Operation Newest First
    ${answer} =    Envelope Of    plan ops
    ${kinds} =    Evaluate    [o['kind'] for o in $answer['data']['operations']]
    Should Be Equal
    ...    ${kinds}
    ...    ${{['redo', 'undo', 'rollback', 'checkpoint', 'checkpoint', 'create_plan']}}
    Should Be Equal    ${answer}[data][operations][2][command_line]    plan rollback try-1 --yes --format json


*** Keywords ***
Both Pictures
    ${mine} =    Picture Of    ${REPO}
    ${theirs} =    Picture Of    ${SANDBOX}
    RETURN    ${mine}    ${theirs}
