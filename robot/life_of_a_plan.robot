*** Settings ***
Documentation       A plan from its beginning to its end, and back, as a shell drives it.
Resource            resources/backtrail.resource
Suite Setup         A Repository With A Secret And Uncommitted Work
Suite Teardown      Move Out
Test Tags           life


*** Test Cases ***
It Begins With Uncommitted Work And The Files That Git Ignores
    ${created} =    Envelope Of    plan create auth --from-dirty
    Should Be Equal    ${created}[data][copied]    ${{['.env']}}
    VAR    ${SANDBOX}    ${created}[data][plan][sandbox][path]    scope=SUITE
    File Should Hold    ${SANDBOX}/.env    TOKEN=1
    File Should Hold    ${SANDBOX}/src/cart.py    price = 2
    ${status} =    Shell    git status --short
    Should Be Equal    ${status.stdout}    ${SPACE}M src/cart.py\n?? .worktreeinclude\n

It Is Forked From A Checkpoint
    Go To    ${SANDBOX}
    Write    src/login.py    user = None
    Shell    git add src/login.py && plan save --label login
    Write    src/login.py    user = 1
    Shell    plan fork login second-try
    ${status} =    Shell    git -C "$(plan path second-try)" status --short src
    Should Be Equal    ${status.stdout}    ${SPACE}M src/cart.py\nA${SPACE * 2}src/login.py\n

A Checkpoint Becomes A Branch And An Archive
    Shell    plan checkpoint branch login review/login
    ${held} =    Shell    git show review/login:src/login.py
    Should Be Equal    ${held.stdout}    user = None\n
    Shell    plan checkpoint export login ../../login.tar.gz && tar -tzf ../../login.tar.gz src/login.py
    Shell    plan checkpoint export login ../../login.tar.gz    code=5

It Is Removed With Work That Nobody Saved, And Comes Back
    ${before} =    Picture Of    ${SANDBOX}
    ${git} =    Git State Of    ${SANDBOX}
    Go To    ${REPO}
    Shell    plan remove auth    code=6
    ${asked} =    Terminal    plan remove auth    Go on?    n    code=6
    Should Contain    ${asked}    plan restore auth brings it back
    Shell    plan remove auth --yes
    Directory Should Not Exist    ${SANDBOX}
    Shell    git gc --quiet --prune=now
    Shell    plan save auth    code=3
    Shell    plan restore auth
    ${after} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${before}    ${after}
    ${git_after} =    Git State Of    ${SANDBOX}
    Should Be Equal    ${git}    ${git_after}

It Comes Back After Others Destroyed It
    Shell    plan save auth
    ${before} =    Picture Of    ${SANDBOX}
    Shell    git worktree remove --force '${SANDBOX}' && git branch -D plan/auth
    ${status} =    Shell    plan status auth
    Should Contain    ${status.stdout}    plan restore auth
    Shell    plan restore auth
    ${after} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${before}    ${after}

It Ends
    Shell    plan cancel auth
    ${states} =    Shell    plan list --sort name | cut -f 1,4
    Should Be Equal    ${states.stdout}    auth\tcancelled\nsecond-try\tqueued\n
    Shell    plan remove auth --purge --yes    code=6
    ${asked} =    Terminal    plan remove auth --purge    Go on?    y    to go on:    wrong    code=6
    Should Contain    ${asked}    is not the name of the plan
    Terminal    plan remove auth --purge    Go on?    y    to go on:    auth
    Shell    plan restore auth    code=5
    Directory Should Not Exist    ${SANDBOX}

What The Fork Made Is Applied Once Nothing Is In Its Way
    Go To    ${REPO}
    ${before} =    Git State Of    ${REPO}
    These Fail
    ...    5    refused    plan apply second-try --yes
    ${after} =    Git State Of    ${REPO}
    Should Be Equal    ${before}    ${after}
    Shell    git stash push --quiet --include-untracked
    These Fail
    ...    6    not_confirmed    plan apply second-try
    ${asked} =    Terminal    plan apply second-try    Go on? [y/N]    n    code=6
    Should Contain    ${asked}    Plan second-try goes onto branch main (squash).
    ${shown} =    Terminal    plan apply second-try    Go on? [y/N]    y
    Should Contain    ${shown}    Apply of plan second-try
    File Should Hold    ${REPO}/src/login.py    user = None
    ${commit} =    Shell    git status --porcelain && git log -1 --format=%s
    Should Be Equal    ${commit.stdout}    Apply plan second-try\n

What Was Applied Is Taken Back With Git
    ${refused} =    Envelope Of    plan rollback second-try first --yes    code=5
    ${commit} =    Shell    git rev-parse HEAD
    Should Contain    ${refused}[error][hint]    git revert ${commit.stdout.strip()}
    Shell    git revert --no-edit HEAD
    File Should Not Exist    ${REPO}/src/login.py


*** Keywords ***
A Repository With A Secret And Uncommitted Work
    Move In With A Repository
    Shell    echo .env >>.gitignore && git commit -qam 'no secrets'
    Write    .env    TOKEN=1
    Write    .worktreeinclude    .env
    Write    src/cart.py    price = 2
