@storage
Feature: Several repositories share one database
  `PLAN_DATABASE_URL` can give several clones one database, on one machine or on many. Every row
  belongs to the private store of one clone: each clone lists, finds, repairs and numbers its own
  plans, as if the others were not there.

  Background:
    Given two clones that share one database, "mine" and "theirs"

  Scenario: Both may have a plan of the same name
    When I run "plan create auth" in "mine"
    Then it succeeds
    When I run "plan create auth" in "theirs"
    Then it succeeds
    When I run "plan save auth --label one" in "mine"
    And I run "plan save auth --label one" in "theirs"
    Then it succeeds
    When I run "plan rollback auth first --yes" in "theirs"
    Then it succeeds
    And clone "mine" has plan "auth" with the timeline: initial, one
    And clone "theirs" has plan "auth" with the timeline: initial, rollback
    And in both clones rows and refs agree, and nothing is half done

  Scenario: Nobody sees the plans of the other
    Given clone "mine" has plans: auth, billing
    And clone "theirs" has plans: search
    When I run "plan list --format json" in "theirs"
    Then its JSON names the plans: search
    When I run "plan list --format json" in "mine"
    Then its JSON names the plans: billing, auth

  Scenario: Nobody reaches the plans and checkpoints of the other, by whatever name
    Given clone "mine" has plans: auth
    And clone "theirs" has plans: search
    Then in clone "theirs" none of these is found, and nothing changes:
      | command                                                | exit code |
      | plan status auth                                       | 3         |
      | plan status {plan of mine}                             | 3         |
      | plan status {beginning of the plan of mine}            | 3         |
      | plan save {plan of mine}                               | 3         |
      | plan rollback {plan of mine} first --yes               | 3         |
      | plan undo {plan of mine}                               | 3         |
      | plan ops {plan of mine}                                | 3         |
      | plan checkpoint show search {checkpoint of mine}       | 3         |
      | plan rollback search {checkpoint of mine} --yes        | 3         |
      | plan rollback search {beginning of the checkpoint of mine} --yes | 3 |
      | plan diff -p search {checkpoint of mine}               | 3         |
    And in clone "theirs" a Python program that gives the id of the plan of "mine" is told that there is none

  Scenario Outline: What one left unfinished is not for the other to finish: <what>
    Given clone "mine" has plans: auth
    And clone "theirs" has plans: auth
    And in clone "mine" "<command>" was killed at "<failpoint>"
    When I run "plan save auth" in "theirs"
    Then it succeeds
    And clone "mine" still has what was left unfinished
    When I run "<next>" in "mine"
    Then it succeeds
    And in both clones rows and refs agree, and nothing is half done

    Examples:
      | what            | command                        | failpoint               | next               |
      | a checkpoint    | plan save auth                 | create.announced        | plan save auth     |
      | a pinned one    | plan save auth                 | create.pinned           | plan save auth     |
      | a rollback      | plan rollback auth first --yes | rollback.files_restored | plan save auth     |
      | a new plan      | plan create billing            | plan.worktree_added     | plan create billing |

  @unmeasured
  Scenario: Both work at the same time
    Given clone "mine" has plans: auth
    And clone "theirs" has plans: auth
    When 2 processes save 8 checkpoints each on plan "auth" in each clone, all at once
    Then none of them complained
    And in both clones plan "auth" has 17 complete checkpoints, without a gap
    And in both clones rows and refs agree, and nothing is half done

  @unmeasured
  Scenario: A database that nobody has used yet is prepared by one of many
    When 4 processes in each clone create a plan each, all at once
    Then none of them complained
    And in both clones rows and refs agree, and nothing is half done

  Scenario: Of two who create the same plan at once, one gets it
    When 4 processes create plan "auth" in clone "mine", all at once
    Then clone "mine" has one plan, and who did not make it was refused with 5 or found it
    And in clone "mine" rows and refs agree, and nothing is half done

  Scenario: Of two who attach the same worktree at once, one gets it
    When 4 processes attach the checkout of clone "mine", each for a plan of its own, all at once
    Then clone "mine" has one plan, and who did not make it was refused with 5 or found it
    And in clone "mine" rows and refs agree, and nothing is half done

  Scenario: A copied repository has the same rows as the original, and may not touch them
    Given clone "mine" has plans: auth
    And clone "mine" is copied to "a copy", git directory and all
    Then in clone "a copy" these are refused, and nothing changes:
      | command                        | exit code |
      | plan save auth                 | 7         |
      | plan rollback auth first --yes | 7         |
      | plan checkpoint label auth 1 x | 7         |
      | plan create auth               | 5         |
    When I run "plan create other" in "a copy"
    Then it succeeds
    When I run "plan save other" in "mine"
    Then it exits with 7
    When I run "plan save auth" in "mine"
    Then it succeeds

  Scenario Outline: What the original left unfinished is not for its copy to finish: <what>
    Given clone "mine" has plans: auth
    And in clone "mine" "<command>" was killed at "<failpoint>"
    And clone "mine" is copied to "a copy", git directory and all
    Then in clone "a copy" these are refused, and nothing changes:
      | command        | exit code |
      | <in the copy>  | 7         |
    When I run "<next>" in "mine"
    Then it succeeds
    And in clone "mine" rows and refs agree, and nothing is half done

    Examples:
      | what                 | command                        | failpoint               | in the copy         | next                |
      | a checkpoint         | plan save auth                 | create.announced        | plan save auth      | plan save auth      |
      | a rollback           | plan rollback auth first --yes | rollback.files_restored | plan save auth      | plan save auth      |
      | a plan without files | plan create billing            | plan.announced          | plan create billing | plan create billing |
      | a plan half made     | plan create billing            | plan.worktree_added     | plan create billing | plan create billing |
      | a plan nearly made   | plan create billing            | plan.checked_out        | plan save billing   | plan create billing |
