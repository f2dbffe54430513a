*** Settings ***
Documentation       A wrecked sandbox comes back byte for byte, and nothing else is disturbed.
Resource            resources/backtrail.resource
Suite Setup         A Furnished Sandbox
Suite Teardown      Move Out
Test Tags           safety


*** Test Cases ***
A Checkpoint Disturbs Nothing
    ${before} =    The User's Own Things
    Shell    plan save --label furnished
    ${after} =    The User's Own Things
    Should Be Equal    ${before}    ${after}
    ${now} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${FURNISHED}    ${now}

A Wrecked Sandbox Comes Back Byte For Byte
    Shell    sh '${CURDIR}/resources/wreck.sh'
    ${wrecked} =    Picture Of    ${SANDBOX}
    ${wrecked_git} =    Git State Of    ${SANDBOX}
    VAR    ${WRECKED}    ${wrecked}    scope=SUITE
    VAR    ${WRECKED_GIT}    ${wrecked_git}    scope=SUITE
    Pictures Should Differ    ${FURNISHED}    ${WRECKED}
    ...    edited.txt    deleted.txt    old-name.txt    new-name.txt    crlf.txt    image.bin    tool.sh
    ...    staged.txt    link    dangling    swapped    swapped/inside.txt    untracked.txt    .gitignore
    ...    mess.txt    wide/näme with blank/ünï ☃.txt
    Should Not Be Equal    ${FURNISHED_GIT}    ${WRECKED_GIT}
    ${hooks} =    Hooks That Ran
    Should Contain    ${hooks}    post-commit    msg=the user's own commit ran no hook, so nothing is proven
    ${answer} =    Envelope Of    plan rollback furnished --yes
    Should Be Equal    ${answer}[data][rollback_summary][verified]    ${True}
    ${now} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${FURNISHED}    ${now}
    ${hooks_since} =    Hooks That Ran
    Should Be Equal    ${hooks_since}    ${hooks}

What Git Says Is As It Was
    ${now} =    Git State Of    ${SANDBOX}
    Should Be Equal    ${now}    ${FURNISHED_GIT}
    ${staged} =    Shell    git show :edited.txt
    Should Be Equal    ${staged.stdout}    one\nstaged two\n

Ignored Files Are Left Alone Although The Rules Were Gone
    File Should Hold    ${SANDBOX}/private.log    secret

Undo Brings The Wreck Back As Exactly
    Shell    plan undo
    ${now} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${WRECKED}    ${now}
    ${git} =    Git State Of    ${SANDBOX}
    Should Be Equal    ${git}    ${WRECKED_GIT}

Some Paths Can Be Brought Back Alone
    ${answer} =    Envelope Of    plan rollback furnished --path edited.txt --path swapped --yes
    Should Be Equal    ${answer}[data][rollback_summary][paths]    ${{['edited.txt', 'swapped']}}
    Should Be Equal As Integers    ${answer}[data][impact][checkpoints_superseded]    0
    ${now} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${WRECKED}    ${now}    edited.txt    swapped    swapped/inside.txt
    File Should Hold    ${SANDBOX}/edited.txt    one\nedited after staging
    File Should Hold    ${SANDBOX}/swapped/inside.txt    in a directory

Checkpoints Survive The User's Own Housekeeping
    Go To    ${REPO}
    Shell    git reflog expire --expire=now --all && git gc -q --prune=now && git worktree prune
    Go To    ${SANDBOX}
    Shell    plan rollback furnished --yes
    ${now} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${FURNISHED}    ${now}
    ${git} =    Git State Of    ${SANDBOX}
    Should Be Equal    ${git}    ${FURNISHED_GIT}

What Is Ignored Now Survives Although It Was Not Ignored Then
    Shell    printf '*\\n' >.gitignore && echo mine >hidden.txt
    ${answer} =    Envelope Of    plan rollback furnished --yes
    Should Contain    ${answer}[data][left_alone]    ${{{'file': 'hidden.txt', 'reason': 'ignored'}}}
    ${now} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${FURNISHED}    ${now}    hidden.txt
    File Should Hold    ${SANDBOX}/hidden.txt    mine
    [Teardown]    Shell    git checkout -q .gitignore && rm -f hidden.txt

The User's Own Checkout Was Never Touched
    ${now} =    Git State Of    ${REPO}
    Should Be Equal    ${now}    ${REPO_GIT}
    ${refs} =    Shell    git for-each-ref --format='%(refname)'
    Should Be Equal    ${refs.stdout}    refs/heads/main\nrefs/heads/plan/auth\n


*** Keywords ***
A Furnished Sandbox
    Move In With A Repository
    # A hook that ran would leave its name, and a checkpoint must run none.
    FOR    ${hook}    IN    post-checkout    pre-commit    post-commit    reference-transaction    post-index-change
        Create File    ${REPO}/.git/hooks/${hook}    \#!/bin/sh\necho ${hook} >>'${PLACE}/hooks that ran'\n
    END
    ${sandbox} =    Create A Plan    auth
    VAR    ${SANDBOX}    ${sandbox}    scope=SUITE
    ${git} =    Git State Of    ${REPO}
    VAR    ${REPO_GIT}    ${git}    scope=SUITE
    Go To    ${SANDBOX}
    Shell    sh '${CURDIR}/resources/furnish.sh'
    ${furnished} =    Picture Of    ${SANDBOX}
    ${git} =    Git State Of    ${SANDBOX}
    VAR    ${FURNISHED}    ${furnished}    scope=SUITE
    VAR    ${FURNISHED_GIT}    ${git}    scope=SUITE
    Shell    chmod +x '${REPO}'/.git/hooks/*

The User's Own Things
    [Documentation]    Refs, index bytes, state and the hooks that ran, of both checkouts.
    ${here} =    Git State Of    ${SANDBOX}
    ${there} =    Git State Of    ${REPO}
    ${rest} =    Shell
    ...    git for-each-ref; cksum "$(git rev-parse --git-path index)" '${REPO}/.git/index'; git reflog
    ${hooks} =    Hooks That Ran
    RETURN    ${here}${there}${rest.stdout}${hooks}

Hooks That Ran
    ${said} =    Shell    cat '${PLACE}/hooks that ran' 2>/dev/null || true
    RETURN    ${said.stdout}
