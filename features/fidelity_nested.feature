Feature: Repositories inside the sandbox
  Submodules and repositories that an agent cloned are captured as files. Their own `.git` is
  neither captured nor changed nor deleted, and where their HEAD was is recorded.

  Background:
    Given a repository with plan "auth"

  Scenario Outline: A nested repository <how> commits
    Given a nested repository "inner" <how> commits
    And I save checkpoint "one"
    Then the latest checkpoint tells that it does not hold: inner/.git
    And "inner/inside.txt" is "inside\n" in the latest checkpoint
    When the agent writes "changed\n" to "inner/inside.txt"
    And the agent writes "new\n" to "inner/deep/new.txt"
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And the repository in "inner" is whole
    When I undo
    Then the sandbox is exactly as it was at "two"
    And the repository in "inner" is whole

    Examples:
      | how     |
      | with    |
      | without |

  Scenario: Two levels deep, and a bare one
    Given a nested repository "outer" with commits
    And a nested repository "outer/inner" with commits
    And a bare repository "store.git"
    And I save checkpoint "one"
    When the agent writes "changed\n" to "outer/inner/inside.txt"
    And the agent deletes "store.git"
    And the agent writes "changed\n" to "outer/inside.txt"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And the repository in "outer/inner" is whole

  Scenario: Rules of the nested repository hold inside it
    Given a nested repository "inner" with commits
    And the agent writes "*.tmp\n" to "inner/.gitignore"
    And the agent writes "x\n" to "inner/scratch.tmp"
    And I save checkpoint "one"
    Then "inner/scratch.tmp" is not in the latest checkpoint
    When the agent writes "y\n" to "inner/scratch.tmp"
    And I roll back to "one"
    Then "inner/scratch.tmp" holds "y\n"

  Scenario: What is ignored in a repository of which nothing is captured
    Given a nested repository "inner" without commits
    And I save checkpoint "one"
    When the agent writes "*.tmp\n" to ".gitignore"
    And the agent writes "x\n" to "inner/deep/scratch.tmp"
    And I roll back to "one"
    Then "inner/deep/scratch.tmp" holds "x\n"

  Scenario: A repository whose HEAD has moved
    Given a nested repository "inner" with commits
    And I save checkpoint "one"
    When the agent writes "changed\n" to "inner/inside.txt"
    And the agent runs "git -C inner -c user.name=A -c user.email=a@example.com commit --quiet -am second"
    And I roll back to "one"
    Then the result says "the repository in inner/ was at"
    And "inner/inside.txt" holds "inside\n"

  Scenario: A repository that was cloned since
    Given I save checkpoint "one"
    When a nested repository "inner" with commits
    And I save checkpoint "two"
    And I roll back to "one"
    Then the result says "the repository in inner/ was made since: its files go, its .git stays"
    And "inner/inside.txt" is not there
    And "inner/.git/HEAD" is there
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario: A repository that was made since where something was not captured
    Given a FIFO in the place of "p"
    And I save checkpoint "one"
    When the agent runs "rm p"
    And the agent runs "git init --quiet p"
    And the agent writes "x\n" to "p/f"
    And I roll back to "one"
    Then the result says "the repository in p/ was made since: it stays"
    And "p/f" holds "x\n"
    And left alone were: p/.git, p/f

  Scenario: A repository that was deleted since
    Given a nested repository "inner" with commits
    And I save checkpoint "one"
    When the agent deletes "inner"
    And I roll back to "one"
    Then the result says "the repository in inner/ has been deleted since"
    And "inner/inside.txt" holds "inside\n"

  Scenario: A folder that became a repository is seen alike with any index
    Given I save checkpoint "one"
    When the agent runs "git init --quiet src"
    And I save checkpoint "two"
    Then the latest checkpoint tells that it does not hold: src/.git
    And "src/app.py" is "print('one')\n" in the latest checkpoint
    When the private index is lost
    And I save checkpoint "three"
    Then checkpoints "two" and "three" hold the same files
    And the latest checkpoint tells that it does not hold: src/.git

  Scenario Outline: A <kind> that became a repository <how> commits
    Given the agent does this to "thing": makes a <kind>
    And I save checkpoint "one"
    When the agent deletes "thing"
    And a nested repository "thing" <how> commits
    And I save checkpoint "two"
    Then "thing/inside.txt" is "inside\n" in the latest checkpoint
    And the latest checkpoint tells that it does not hold: thing/.git
    When the agent deletes "thing/inside.txt"
    And I roll back to "two"
    Then the sandbox is exactly as it was at "two"
    And the repository in "thing" is whole
    When I run "plan rollback auth one --yes"
    Then it exits with 5 and says "it is a git repository"

    Examples:
      | kind | how     |
      | file | with    |
      | file | without |
      | link | with    |
      | link | without |

  Scenario: Submodules, initialised and not
    Given the agent adds the submodules "ready" and "bare", and only "ready" is initialised
    And I save checkpoint "one"
    When the agent writes "changed\n" to "ready/lib.txt"
    And the agent writes "new\n" to "ready/new.txt"
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And the repository in "ready" is whole
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario: A nested repository in the place of a file is not destroyed
    Given the agent writes "x\n" to "thing"
    And I save checkpoint "one"
    When the agent deletes "thing"
    Given a nested repository "thing" with commits
    Then "plan rollback auth one --yes" leaves everything as it is and exits with 5
