@storage
Feature: Plans and their sandboxes
  A plan has a sandbox: a git worktree of its own beside the repository, on a branch of its own,
  or one that the user already has. The plan is found by name, by PLAN_ID or by where one is.

  Background:
    Given a repository

  Scenario: Creating a plan
    When I run "plan create auth --format json"
    Then it succeeds
    And its JSON has data.plan.name "auth"
    And its JSON has data.plan.phase "strategize"
    And its JSON has data.plan.state "queued"
    And its JSON has data.plan.sandbox.branch "plan/auth"
    And its JSON has data.checkpoint.checkpoint_type "initial"
    And its JSON has data.checkpoint.seq 1
    And the sandbox of "auth" holds the files of the repository
    When I run "plan path auth"
    Then it prints nothing but the path of the sandbox of "auth"

  Scenario: Creating a plan from an earlier commit
    Given the user writes "later\n" to "later.txt"
    And the user runs "git add ."
    And the user runs "git commit --quiet -m later"
    When I run "plan create auth --base HEAD~1 --print path"
    Then it prints nothing but the path of the sandbox of "auth"
    And "later.txt" is not in the sandbox of "auth"
    When I run "plan create other --base nosuch"
    Then it exits with 3
    And the plans are: auth

  Scenario: Creating a plan that is there already
    Given plan "auth"
    And the agent works and saves: one
    When I run "plan create auth"
    Then it exits with 5
    When I run "plan create auth --if-exists fail"
    Then it exits with 5
    When I run "plan create auth --if-exists use --format json"
    Then it succeeds
    And its JSON has data.checkpoint.label "one"
    And the timeline is: initial, one
    And the plans are: auth

  Scenario Outline: What is in the way of a new plan is left alone: <obstacle>
    Given plan "other"
    And the user runs "<command>"
    And I take stock of everything
    When I run "plan create auth"
    Then it exits with 5
    And no file, no ref, no index and no row has changed

    Examples:
      | obstacle                | command                             |
      | a branch of its name    | git branch plan/auth                |
      | a folder where it goes  | mkdir -p '../my repo.plans/auth/x'  |

  Scenario: A repository without commits
    Given a repository without commits
    When I run "plan create auth"
    Then it exits with 5 and says "no commit yet"
    And the plans are: nothing

  Scenario: Listing plans
    Given plan "one"
    And plan "two"
    When I run "plan list --format json"
    Then its JSON has data.plans.0.name "two"
    And its JSON has data.plans.1.name "one"
    And its JSON has data.plans.1.checkpoints 1
    And its JSON has data.plans.1.changed_files null
    When I run "plan list --format plain"
    Then it prints "my repo.plans/one"

  Scenario: Finding one plan among many
    Given plan "beta"
    And plan "alpha"
    And plan "gamma"
    And I speak of plan "beta"
    And the agent works and saves: one
    And the agent writes "newer\n" to "work.txt"
    When I run "plan cancel gamma"
    And I run "plan list --format json"
    Then the listed plans are: gamma, beta, alpha
    When I run "plan list --sort name --format json"
    Then the listed plans are: alpha, beta, gamma
    When I run "plan list --sort created --format json"
    Then the listed plans are: gamma, alpha, beta
    When I run "plan list --sort checkpoints --format json"
    Then the listed plans are: beta, gamma, alpha
    When I run "plan list --sort size --format json"
    Then its JSON has data.plans.0.name "beta"
    When I run "plan list --state cancelled --format json"
    Then the listed plans are: gamma
    When I run "plan list --state removed --state queued --format json"
    Then the listed plans are: beta, alpha
    When I run "plan remove alpha --yes"
    And I run "plan list --format json"
    Then the listed plans are: gamma, beta
    When I run "plan list --all --state removed --format json"
    Then the listed plans are: alpha
    When I run "plan list --changes --sort name --format json"
    Then its JSON has data.plans.0.changed_files 1
    And its JSON has data.plans.1.changed_files 0
    When I run "plan list --changes --all --format rich"
    Then it prints "changed"
    When I run "plan list --state nonsense"
    Then it exits with 2

  Scenario: A list stays usable when sandboxes are gone
    Given plan "auth"
    And the sandbox was deleted
    When I run "plan list --changes --format json"
    Then it succeeds
    And its JSON has data.plans.0.sandbox_present false
    And its JSON has data.plans.0.changed_files null
    When I run "plan list --format rich"
    Then it prints "missing"

  Scenario: Where a plan stands
    Given plan "auth"
    And the agent works and saves: one
    When I run "plan status auth --exit-code --format json"
    Then it exits with 0
    And its JSON has data.changes []
    And its JSON has data.latest.label "one"
    Given the agent writes "edited\n" to "work.txt"
    And the agent writes "new\n" to "new.txt"
    When I run "plan status auth --exit-code --format json"
    Then it exits with 1
    And its JSON has data.changes [{"file": "new.txt", "action": "added", "added": 1, "removed": 0}, {"file": "work.txt", "action": "modified", "added": 1, "removed": 1}]
    When I run "plan status auth --format json"
    Then it exits with 0
    And its JSON has status "ok"

  Scenario: Where a plan stands whose sandbox is gone
    Given plan "auth"
    And the sandbox was deleted
    When I run "plan status auth --format json"
    Then it exits with 0
    And its JSON has data.plan.name "auth"
    And its JSON has data.changes []
    And it prints "is missing"
    When I run "plan status auth --exit-code"
    Then it exits with 7

  Scenario: A worktree that the user already has
    Given plan "mine" on a worktree of the user's, on branch "feature"
    When the agent works and saves: one
    Then the timeline is: initial, one
    And HEAD is on branch "feature"
    And there is no branch "plan/mine"

  Scenario: The main checkout as a sandbox
    When I run "plan create here --sandbox ."
    Then it succeeds
    When I run "plan save --label one"
    Then it succeeds
    When the user writes "edited\n" to "README.md"
    And I run "plan rollback one --yes"
    Then the user finds "hello\n" in "README.md"

  Scenario: What cannot be attached
    Given plan "auth"
    And another repository in "stranger"
    When I run "plan create x --sandbox ../stranger"
    Then it exits with 7
    When I run "plan create x --sandbox src"
    Then it exits with 7
    When I run "plan create x --sandbox nosuch"
    Then it exits with 7
    When I run "plan create x --sandbox '../my repo.plans/auth'"
    Then it exits with 5
    When I run "plan create x --sandbox . --base HEAD"
    Then it exits with 2
    And the plans are: auth

  Scenario: Inside the sandbox the plan need not be named
    Given plan "auth"
    And the agent works and saves: one, two
    When I run "plan save --label three" in the sandbox
    Then the timeline is: initial, one, two, three
    When I run "plan rollback one --yes" in "my repo.plans/auth/src"
    Then it succeeds
    And the timeline is: initial, one, rollback
    When I run "plan undo" in "my repo.plans/auth/src/lib"
    Then it succeeds
    And "work.txt" holds "at two\n"

  Scenario: Anywhere else the plan is named, or the place
    Given plan "auth"
    When I run "plan -C {sandbox of auth} save --label one" in "elsewhere"
    Then it succeeds
    When I run "plan save -C '../my repo' auth --label two" in "elsewhere"
    Then it succeeds
    When I run "plan save -p auth --label three" in "my repo/src/lib"
    Then it succeeds
    And the timeline is: initial, one, two, three

  Scenario: PLAN_ID names the plan
    Given plan "auth"
    And plan "other"
    When I run "plan save --label one" with PLAN_ID=auth
    Then it succeeds
    When I speak of plan "auth"
    Then the timeline is: initial, one
    When I run "plan save" with PLAN_ID=nosuch
    Then it exits with 3 and says "PLAN_ID"

  Scenario: PLAN_ID and the place disagree
    Given plan "auth"
    And plan "other"
    And the agent works and saves: one, two
    And I take stock of everything
    When I run "plan rollback one --yes" with PLAN_ID=auth in the sandbox of "other"
    Then it exits with 5
    When I run "plan undo" with PLAN_ID=auth in the sandbox of "other"
    Then it exits with 5
    And no file, no ref, no index and no row has changed
    When I run "plan path" with PLAN_ID=auth in the sandbox of "other"
    Then it prints nothing but the path of the sandbox of "auth"
    And it notes "PLAN_ID names plan auth, but this is the sandbox of plan other"
    When I run "plan rollback -p other one --yes" with PLAN_ID=auth in the sandbox of "other"
    Then it succeeds
    When I run "plan undo other" with PLAN_ID=auth in the sandbox of "other"
    Then it succeeds

  Scenario: A plan is named by the beginning of its id
    Given plan "auth"
    When I run "plan path {id of plan auth}"
    Then it prints nothing but the path of the sandbox of "auth"

  Scenario: Blanks and letters of all scripts in paths
    Given plan "auth"
    And the agent writes "1\n" to "mein Ordner/größe 大.txt"
    And I save checkpoint "before"
    And the agent writes "2\n" to "mein Ordner/größe 大.txt"
    When I run "plan rollback auth before --yes --format json --path 'mein Ordner/größe 大.txt'"
    Then its JSON has data.changes_reverted [{"file": "mein Ordner/größe 大.txt", "action": "restored"}]
    And "mein Ordner/größe 大.txt" holds "1\n"

  Scenario Outline: Creating a plan goes on where it was killed: at <failpoint>
    Given creating plan "auth" was killed at <failpoint>
    When I run "plan create auth --format json"
    Then it succeeds
    And the plans are: auth
    And the sandbox of "auth" holds the files of the repository
    When I speak of the plan "auth" that was created
    Then the timeline is: initial
    When the agent works and saves: one, two
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

    Examples:
      | failpoint           |
      | plan.announced      |
      | plan.worktree_added |
      | plan.checked_out    |
      | plan.seeded         |
      | plan.initial_made   |

  Scenario: Creating a plan goes on only as it began
    Given the user runs "git commit --quiet --allow-empty -m second"
    And creating plan "auth" was killed at plan.checked_out
    When I run "plan create auth --base HEAD~1"
    Then it exits with 5
    When I run "plan create auth --sandbox ."
    Then it exits with 5
    When I run "plan create auth --base HEAD"
    Then it succeeds

  Scenario: Looking makes nothing in a repository that has no plans
    When I run "plan list"
    Then it succeeds
    When I run "plan status auth"
    Then it exits with 3
    And the repository holds nothing of Backtrail's

  Scenario: Work found in a sandbox whose creation was killed is not lost
    Given creating plan "auth" was killed at plan.worktree_added
    And somebody writes "precious\n" to "README.md" in the sandbox of "auth"
    When I run "plan create auth"
    Then it succeeds
    When I speak of the plan "auth" that was created
    Then some checkpoint holds "precious\n" as "README.md"
