Feature: Directories that are exchanged for links meanwhile
  While a rollback works, somebody exchanges a directory of the sandbox for a link to a directory
  elsewhere, and back, as often as a machine can. Nothing that lies there is written, created,
  deleted or given other permission bits: the rollback succeeds, or fails and can be undone.
  With BACKTRAIL_EXAMPLES set, that many rollbacks are raced.

  Background:
    Given a repository with plan "auth"

  Scenario Outline: Rollbacks beside a process that exchanges directories and links: <where>
    Given plan.toml says: include_ignored = [".secret"]
    And two checkpoints that differ below a directory, and a directory outside with the same names
    When rollbacks race with a process that exchanges it for a link to there: <where>
    Then every rollback succeeds, or fails with 9 or 11, and nothing outside was touched

    Examples:
      | where                      |
      | the link is in the sandbox |
      | the link is elsewhere      |

  Scenario Outline: The kernel helps less: it <lacks>
    Given the agent works and saves: one, two
    When "plan rollback auth one --yes" is run by a kernel that <lacks>
    Then it succeeds
    And the sandbox is exactly as it was at "one"
    When "plan undo auth" is run by a kernel that <lacks>
    Then it succeeds
    And the sandbox is exactly as it was at "two"
    Given something precious outside of the sandbox
    And the agent puts a link to it in the place of "src/lib"
    When "plan rollback auth one --yes" is run by a kernel that <lacks>
    Then the sandbox is exactly as it was at "one"
    And what is outside is untouched

    Examples:
      | lacks               |
      | has no openat2      |
      | forbids openat2     |
      | makes no hard links |

  Scenario: A kernel that makes no hard links, and something has come in the last moment
    Given the agent works and saves: one, two
    When somebody makes "work.txt" anew when "plan rollback auth one --yes" has taken away what goes, by a kernel that makes no hard links
    Then it exits with 9 and says "error: 'work.txt' was changed while it was being rolled back"
    And "work.txt" holds "made anew\n"

  Scenario: Somebody types into a file that is about to be deleted
    Given the agent works and saves: one, two
    When somebody types into "made at two.txt", open already, when "plan rollback auth one --yes" has moved it aside
    Then it exits with 9 and says "error: 'made at two.txt' was changed while it was being rolled back"
    And "made at two.txt" holds "typed"

  Scenario: The same, and the rollback is killed right then: the next command puts the file back
    Given the agent works and saves: one, two
    When somebody types into "made at two.txt", open already, when "plan rollback auth one --yes" has moved it aside and is killed
    Then "made at two.txt" is not in the sandbox
    When I run "plan save auth"
    Then it succeeds
    And "made at two.txt" holds "typed"

  Scenario: The same, and somebody makes the file anew: both are kept
    Given the agent works and saves: one, two
    When somebody types into "made at two.txt", open already, when "plan rollback auth one --yes" has moved it aside and is killed
    And the agent runs "sh -c 'echo anew > made\ at\ two.txt'"
    And I run "plan save auth"
    Then it succeeds
    And the notice names a place that keeps "typed"

  Scenario: The same, and by now the checkpoint is damaged: the file is put back
    Given the agent works and saves: one, two
    When "plan rollback auth one --yes" is killed at "rollback.moved_aside"
    Then "made at two.txt" is not in the sandbox
    Given the content of "work.txt" at checkpoint "one" is lost from the store
    When I run "plan save auth"
    Then it succeeds
    And "made at two.txt" holds "two\n"

  Scenario: A directory is a link for as long as git looks, and then a directory again
    Given the agent works and saves: one
    And the agent writes "mine\n" to "README.md"
    When "plan save auth --label two" is run while git "update-index -z --add" finds a link above README.md twice
    Then it succeeds
    Given the agent writes "other\n" to "README.md"
    When I run "plan rollback auth two --yes"
    Then "README.md" holds "mine\n"

  Scenario: A directory is a link whenever git looks: what is below is left out, and that is told
    Given the agent works and saves: one
    And the agent writes "mine\n" to "README.md"
    And the agent writes "more\n" to "work.txt"
    When "plan save auth --label two" is run while git "update-index -z --add" always finds a link above README.md
    Then it succeeds
    And it notes "not captured: README.md (it kept changing while it was read)"

  Scenario: The same in the checkout of which an interrupted apply has to know how far it came
    Given the agent works and saves: one
    And the agent writes "mine\n" to "README.md"
    And I save checkpoint "two"
    When "plan apply auth --yes" is killed at "apply.branch_locked"
    And "plan save auth" is run while git "update-index -z --add" always finds a link above README.md
    Then it succeeds
    And it notes "could not be finished: 'README.md' was changed while it was being looked at: a directory above it became a link; try again when nobody else is at work there"

  Scenario Outline: A file system in the sandbox, from which nothing can be moved elsewhere: <how>
    When files come and go in another file system that is mounted in the sandbox: <how>
    Then they are as they were, and nothing is left of what was got ready

    Examples:
      | how                            |
      | a file system of its own       |
      | the same file system once more |
      | Backtrail's own is elsewhere   |
