*** Settings ***
Documentation       What a person at a terminal sees and types: questions, panels, Ctrl-C.
Resource            resources/backtrail.resource
Suite Setup         A Plan With Something To Lose
Suite Teardown      Move Out
Test Tags           terminal


*** Test Cases ***
No Is An Answer And Changes Nothing
    ${screen} =    Terminal    plan rollback good    Go on? [y/N]    n    code=6
    Should Contain    ${screen}    Plan auth goes back to checkpoint 2 (good).
    Should Contain    ${screen}    Files: 2 restored, 1 removed.
    Should Contain    ${screen}    not confirmed; nothing was changed
    Nothing Has Changed

Ctrl-C At The Question Interrupts And Changes Nothing
    ${screen} =    Terminal    plan rollback good    Go on? [y/N]    CTRL-C    code=130
    Should Contain    ${screen}    interrupted
    Should Not Contain    ${screen}    Traceback
    Nothing Has Changed

The End Of Input Is No
    Terminal    plan rollback good    Go on? [y/N]    CTRL-D    code=6
    Nothing Has Changed

A Dry Run Asks Nothing And Says That It Is One
    ${screen} =    Terminal    plan rollback good --dry-run
    Should Not Contain    ${screen}    Go on?
    Should Contain    ${screen}    Rollback of plan auth (dry run)
    Should Contain    ${screen}    Changes to revert: 3 files
    Should Contain    ${screen}    Dry run: nothing was changed.
    Nothing Has Changed

Programs Are Not Asked Even On A Terminal
    ${screen} =    Terminal    plan rollback good --format json    code=6
    Should Contain    ${screen}    "code": "not_confirmed"
    Nothing Has Changed

Without A Checkpoint A List Is Offered
    ${screen} =    Terminal    plan rollback    Roll back to which checkpoint?    ${EMPTY}    code=6
    Should Match Regexp    ${screen}    (?m)^\\s*2\\s+good\\s+manual\\s+all is well
    Should Contain    ${screen}    no checkpoint was chosen; nothing was changed
    Nothing Has Changed

One Is Chosen From The List And Then Confirmed
    ${screen} =    Terminal
    ...    plan rollback
    ...    Roll back to which checkpoint?
    ...    2
    ...    Go on? [y/N]
    ...    n
    ...    code=6
    Should Contain    ${screen}    Plan auth goes back to checkpoint 2 (good).
    Nothing Has Changed

Yes Rolls Back And Shows Panels
    ${screen} =    Terminal    plan rollback good    Go on? [y/N]    y
    VAR    ${panels}    ${EMPTY}
    FOR    ${title}    IN
    ...    Rollback of plan auth
    ...    Changes reverted: 3 files
    ...    Left alone: 1 path
    ...    Impact
    ...    Post-rollback state
        Should Match Regexp    ${screen}    (?m)^╭─ ${title} ─+╮$
        VAR    ${panels}    ${panels}(?s:.*)╭─ ${title} ─
    END
    Should Match Regexp    ${screen}    ${panels}    msg=the panels come in another order
    Should Match Regexp    ${screen}    │ Checkpoint +2 good +.*│
    Should Match Regexp    ${screen}    │ Files reverted +3 +│
    Should Match Regexp    ${screen}    │ Safety checkpoint +3 +.*│
    Should Match Regexp    ${screen}    │ Now at checkpoint +4 +.*│
    Should Match Regexp    ${screen}    │ Verified +✓ a second look found it exact +│
    Should Match Regexp    ${screen}    │ restored +src/cart.py +│
    Should Match Regexp    ${screen}    │ restored +src/lib/x.py +│
    Should Match Regexp    ${screen}    │ removed +src/mess.py +│
    Should Match Regexp    ${screen}    │ debug.log +ignored +│
    Should Match Regexp    ${screen}    │ Checkpoints superseded +0 +│
    Should Match Regexp    ${screen}    │ Phase +execute +│
    Should Match Regexp    ${screen}    │ State +queued +│
    Should Match Regexp    ${screen}    │ Checkpoints remaining +3 +│
    ${last} =    Get Line    ${screen.strip()}    -1
    Should Be Equal    ${last}    Changed your mind? plan undo auth brings everything back.
    ${now} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${GOOD}    ${now}    debug.log

Undo Asks Nothing And Names The Way Back
    ${screen} =    Terminal    plan undo
    Should Not Contain    ${screen}    [y/N]
    Should Contain    ${screen}    Undo of plan auth
    Should Contain    ${screen}    plan redo auth takes this undo back
    Nothing Has Changed

Taking A Decision Back Is Asked For
    Shell    plan decision add 'make a mess'
    Shell    plan decision add 'make it worse' --parent D1
    ${screen} =    Terminal    plan correct D1 --mode revert --guidance tidy    Go on? [y/N]    n    code=6
    Should Contain    ${screen}    Decision D1 is taken back: make a mess
    Should Contain    ${screen}    2 decisions would leave the timeline.
    Nothing Has Changed
    ${screen} =    Terminal    plan correct D1 --mode revert --guidance tidy    Go on? [y/N]    y
    Should Contain    ${screen}    D3 in its place
    Nothing Has Changed


*** Keywords ***
A Plan With Something To Lose
    Move In With A Repository
    ${sandbox} =    Create A Plan    auth
    VAR    ${SANDBOX}    ${sandbox}    scope=SUITE
    Go To    ${SANDBOX}
    Write    src/cart.py    price = 2
    Shell    plan save -m 'all is well' --label good
    ${good} =    Picture Of    ${SANDBOX}
    VAR    ${GOOD}    ${good}    scope=SUITE
    Write    src/cart.py    price = -1
    Write    src/mess.py    oh no
    Write    debug.log    noise
    Shell    rm src/lib/x.py
    ${bad} =    Picture Of    ${SANDBOX}
    VAR    ${BAD}    ${bad}    scope=SUITE

Nothing Has Changed
    ${now} =    Picture Of    ${SANDBOX}
    Pictures Should Match    ${BAD}    ${now}
