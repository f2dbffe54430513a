Feature: What a person sees
  On a terminal answers are tables and panels; `--format rich` gives the same anywhere. What there
  is nothing to say about is not shown, long lists are cut short, and nothing that is kept as text
  can play tricks on a terminal.

  Background:
    Given a repository

  Scenario: Plans
    When I run "plan list --format rich"
    Then it shows: There are no plans here; plan create NAME makes one
    When I run "plan create auth --format rich"
    Then it shows: Plan created | auth | strategize | queued | plan/auth | Work there with cd "$(plan path auth)"
    When I run "plan create auth --if-exists use --format rich"
    Then it shows: Plan found in place
    When I run "plan list --format rich"
    Then it shows: plan | phase | state | active | checkpoints | size | sandbox | auth | strategize | queued | just now | my repo.plans/auth
    When I run "plan list -v --format rich"
    Then it shows the id of plan "auth"

  Scenario: Where a plan stands
    Given plan "auth"
    When I run "plan status auth --format rich"
    Then it shows: Plan auth | Latest | 1 | initial | 0 steps back, 0 forward | Nothing has changed since the latest checkpoint.
    Given the agent works and saves: one, two
    And I roll back to "one"
    And the agent writes "edited\n" to "README.md"
    And the agent runs "chmod +x src/app.py"
    And the agent runs "dd if=/dev/zero of=zeros bs=9 count=1 status=none"
    When I run "plan status auth --format rich"
    Then it shows: Superseded | 1 step back, 0 forward | 3 files changed since the latest checkpoint | modified | README.md | +1 -1 | mode changed | added | zeros | binary
    When I run "plan status auth -v --format rich"
    Then it shows the id of plan "auth"
    Given the sandbox was deleted
    When I run "plan status auth --format rich"
    Then it shows: Problem | is missing

  Scenario: The end of a plan, and its return
    Given plan "auth"
    And the agent works and saves: one
    When I run "plan cancel auth --format rich"
    Then it shows: Plan auth is cancelled. | plan cancel auth --reopen takes this back.
    When I run "plan cancel auth --reopen --format rich"
    Then it shows: Plan auth is queued again.
    When I run "plan checkpoint branch auth one review --format rich"
    Then it shows: Branch review is checkpoint 2 of plan auth
    When I run "plan checkpoint export auth one ../out --format rich"
    Then it shows: 6 files of checkpoint 2 of plan auth in | out
    When I run "plan fork auth one twin --format rich"
    Then it shows: Plan created | Forked from | auth, checkpoint 2
    When I run "plan status twin --format rich"
    Then it shows: Forked from | auth, checkpoint 2
    When I run "plan remove auth --dry-run --format rich"
    Then it shows: dry run | would be set aside | plan/auth would be deleted | Dry run: nothing was changed.
    When I run "plan remove auth --yes --format rich"
    Then it shows: Saved as | checkpoint 3 | set aside in | plan/auth deleted | plan restore auth brings it back | --purge-files frees the space
    When I run "plan restore auth --dry-run --format rich"
    Then it shows: dry run | from where it was set aside
    When I run "plan restore auth --format rich"
    Then it shows: Restore of plan auth | queued | Verified | yes, byte for byte
    Given the sandbox was deleted
    When I run "plan remove auth --yes --keep-branch --format rich"
    Then it shows: was gone already | plan/auth stays
    When I run "plan remove auth --purge --yes --confirm auth --format rich"
    Then it shows: For good | 5 checkpoints | cannot be restored

  Scenario: Long lists are cut short, unless one asks for all
    Given plan "auth"
    And 25 new files in the sandbox
    When I run "plan status auth --format rich"
    Then it shows: 25 files changed | added | … and 5 more (-v shows all)
    When I run "plan status auth -v --format rich"
    Then it shows: file-25
    When I run "plan rollback auth first --yes --format rich"
    Then it shows: Changes reverted: 25 files | … and 5 more (-v shows all)

  Scenario: Checkpoints
    Given plan "auth"
    When I run "plan save auth --label one --pin --format rich"
    Then it shows: ✓ Saved checkpoint 2 (one) of plan auth
    When I run "plan save auth -v --meta ticket=7 --format rich"
    Then it shows: Saved checkpoint 3 of plan auth | Commit | Type | manual | Meta | {"ticket": "7"}
    When I run "plan checkpoint label auth 3 two --format rich"
    Then it shows: two
    Given checkpoint "two" was found green
    And checkpoint "one" was made 3 hours ago
    And checkpoint "initial" was made 40 days ago
    When I run "plan checkpoint list auth --format rich"
    Then it shows: 1 | initial | 2 | one | manual | 3 hours ago | pinned | 3 | two | just now | green
    When I run "plan checkpoint show auth last-green --format rich"
    Then it shows: Checkpoint 3 (two) | Timeline | live | Created | just now | Head | plan/auth at
    When the agent runs "git switch --quiet --detach"
    And I run "plan save auth -v --format rich"
    Then it shows: Head | detached at
    When the agent runs "git switch --quiet --orphan fresh"
    And I run "plan save auth -v --format rich"
    Then it shows: Head | fresh, without a commit
    When the agent runs "git switch --quiet plan/auth"
    When I roll back to "one"
    And I run "plan checkpoint list auth --all --format rich"
    Then it shows: 3 | two | superseded
    When I run "plan checkpoint list auth -v --format rich"
    Then it shows the id of the latest checkpoint

  Scenario: A checkpoint tells what it does not hold
    Given plan "auth"
    And a FIFO in the place of "pipe"
    And the agent writes "x\n" to "new.txt"
    When I run "plan save auth --label one --format rich -v"
    Then it shows: Not captured | pipe
    When I run "plan checkpoint show auth one --format plain"
    Then it shows: not_captured | pipe

  Scenario: Differences
    Given plan "auth"
    And the agent works and saves: one, two
    And the agent writes "three\n" to "work.txt"
    When I run "plan diff -p auth --format rich"
    Then it shows: 1 file changed, checkpoint 3 → the sandbox now | modified | work.txt | +1 -1
    When I run "plan diff -p auth one two --patch --format rich"
    Then it shows: 2 files changed, checkpoint 2 → checkpoint 3 | --- a/work.txt | +++ b/work.txt | -at one | +at two
    When I run "plan diff -p auth one two --patch --format plain"
    Then it shows: diff --git | -at one | +at two
    When I run "plan diff -p auth two two --format rich"
    Then it shows: No difference: checkpoint 3 → checkpoint 3.

  Scenario: A rollback of some paths, and one that has nothing to do
    Given plan "auth"
    And the agent works and saves: one, two
    When I run "plan rollback auth one --path work.txt --yes --format rich"
    Then it shows: Rollback of plan auth | Only these paths | work.txt | Changes reverted: 1 file | Impact | Post-rollback state
    When I run "plan rollback auth latest --yes -v --format rich"
    Then it shows: Changes reverted | none: every file was as it should be

  Scenario: Operations
    Given plan "auth"
    And the agent works and saves: one
    When I run "plan rollback auth first --yes -m 'that was wrong'"
    And I run "plan ops auth --format rich"
    Then it shows: operation | state | when | who | command | rollback | done | plan rollback auth first --yes | checkpoint | create plan
    When I run "plan ops auth -v --format rich"
    Then it shows: reason | that was wrong
    When I run "plan ops auth --format plain"
    Then it shows: rollback | done | that was wrong

  Scenario: The database
    Given plan "auth"
    When I run "plan db status --format rich"
    Then it shows: Database | plan.db | current
    When I run "plan db status --format plain"
    Then it shows: plan.db | current
    When I run "plan db upgrade --format rich"
    Then it shows: Database | current

  Scenario: Text that would play tricks on a terminal is shown harmless
    Given plan "auth"
    When I save a checkpoint because of "a bell \x07, a colour \x1b[31m and a byte \udcff"
    And I run "plan checkpoint show auth latest --format rich"
    Then it shows: a bell \x07, a colour \x1b[31m and a byte \xff
    When I run "plan checkpoint show auth latest --format plain"
    Then it shows: a bell \x07, a colour \x1b[31m and a byte \xff
    When I run "plan checkpoint show auth latest --format json"
    Then its JSON has data.checkpoint.metadata.reason "a bell \u0007, a colour \u001b[31m and a byte \\xff"
    Given a file named "esc \x1b[2J.txt" with "red \x1b[31m" in it
    When I run "plan diff -p auth --patch --format rich"
    Then it shows: esc | red \x1b[31m
    When I run "plan status auth --format plain"
    Then it shows: esc \x1b[2J.txt

  Scenario: Without a command one is told what could be said
    When I run "plan"
    Then it exits with 2
    And it shows: Usage: plan | create | rollback
    When I run "plan checkpoint"
    Then it exits with 2
    And it shows: Usage: plan checkpoint | create | list
    When I run "plan --format json"
    Then it exits with 2
    And its JSON has error.message "no command is given"

  Scenario: Completion offers plans by name
    Given plan "auth"
    And plan "api"
    And plan "other"
    When the shell asks what could follow "plan status a"
    Then it is offered: auth, api
    When the shell asks what could follow "plan status a" in "elsewhere"
    Then it is offered: nothing

  Scenario: Steps
    Given plan "auth"
    When I run "plan steps auth --format rich"
    Then it shows: Plan auth has no steps yet; plan run --step KEY makes one.
    When I run "plan run auth --step build -- true"
    And I run "plan steps auth --format rich"
    Then it shows: step | status | exit | build | 0 | true
    When I run "plan steps auth -v --format rich"
    Then it shows: position | id | build

  Scenario: Odd bytes in what was typed are shown as everywhere else
    Given plan "auth"
    When I save a checkpoint because of "caf\udce9 \x1b[31m one\ntwo"
    And I run "plan ops auth"
    Then it shows: caf\xe9 \x1b[31m one\ntwo
    When I run "plan ops auth -v --format rich"
    Then it shows: caf\xe9 \x1b[31m | one\ntwo
    When I run "plan checkpoint show auth latest --format plain"
    Then it shows: caf\xe9 \x1b[31m one\ntwo
    When I run "plan ops auth --format json"
    Then its JSON has data.operations.0.reason "caf\\xe9 \u001b[31m one\ntwo"

  Scenario: A rollback of some paths names them
    Given plan "auth"
    And the agent works and saves: one, two
    When I run "plan rollback auth one --path work.txt --path src --yes -m 'too early'"
    And I run "plan ops auth"
    Then it prints "too early (only work.txt, src)"
    When I run "plan checkpoint list auth"
    Then it prints "before rollback to checkpoint 2 (only work.txt, src)"
    And it prints "rollback to checkpoint 2 (only work.txt, src)"
