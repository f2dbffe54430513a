Feature: What git would get wrong
  Each scenario is something that git, used naively, was seen to do: miss an edit, lose content,
  change bytes, or destroy what was never saved.

  Background:
    Given a repository with plan "auth"

  Scenario: An edit in the very second in which the file was saved
    When "README.md" gets "aaaa", is saved, and in the same second gets "bbbb"
    And I save checkpoint "after"
    Then "README.md" is "bbbb" in the latest checkpoint

  Scenario: An edit of the same size right after the plan was created
    When the agent writes "HELLO\n" to "README.md"
    And I save checkpoint "after"
    Then "README.md" is "HELLO\n" in the latest checkpoint

  Scenario: A seeded index gives what a cold one gives
    Then the latest checkpoint is what a cold index gives
    When the agent writes "HELLO\n" to "README.md"
    And the agent writes "new\n" to "new.txt"
    And I save checkpoint "after"
    Then the latest checkpoint is what a cold index gives

  Scenario: An index dated in the future
    Given the agent works and saves: one
    And the private index is dated in the future
    When the agent writes "HELLO\n" to "README.md"
    And I save checkpoint "after"
    Then "README.md" is "HELLO\n" in the latest checkpoint
    And the latest checkpoint is what a cold index gives

  Scenario: A flipped byte in the private index
    Given the agent works and saves: one
    And a byte of the private index flips
    When the agent writes "HELLO\n" to "README.md"
    And I save checkpoint "after"
    Then the latest checkpoint is what a cold index gives
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario Outline: A private index that is <state>
    Given the agent works and saves: one, two
    And the private index is <state>
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"
    And the latest checkpoint is what a cold index gives

    Examples:
      | state   |
      | lost    |
      | cut off |
      | empty   |

  Scenario: A file that is ignored later leaves the checkpoints, as with a cold index
    Given the agent writes "1\n" to "notes.txt"
    And I save checkpoint "one"
    When the agent writes "*.log\nbuild/\nnotes.txt\n" to ".gitignore"
    And I save checkpoint "two"
    Then "notes.txt" is not in the latest checkpoint
    And the latest checkpoint is what a cold index gives
    And "notes.txt" holds "1\n"

  Scenario: A file that was ignored and no longer is after the rollback stays
    Given I save checkpoint "one"
    When the agent writes "*.log\nbuild/\n*.tmp\n" to ".gitignore"
    And the agent writes "precious\n" to "x.tmp"
    And I roll back to "one"
    Then "x.tmp" holds "precious\n"
    And left alone were: x.tmp
    When I undo
    Then "x.tmp" holds "precious\n"

  Scenario: A file that the target would have ignored stays
    Given the agent writes "precious\n" to "x.log"
    And I save checkpoint "one"
    When the agent writes "build/\n" to ".gitignore"
    And I save checkpoint "two"
    And I roll back to "one"
    Then "x.log" holds "precious\n"

  Scenario Outline: What is ignored now and would be replaced is saved first: <what>
    Given the agent writes "old\n" to "<old path>"
    And I save checkpoint "one"
    When the agent deletes "<deleted>"
    And the agent writes "*.log\nbuild/\nthing\n*.x\n" to ".gitignore"
    And the agent writes "precious\n" to "<new path>"
    And I roll back to "one"
    Then "<old path>" holds "old\n"
    When I undo
    Then "<new path>" holds "precious\n"

    Examples:
      | what                                     | old path  | deleted   | new path   |
      | a file, then ignored and edited          | thing     | thing     | thing      |
      | a file, now a folder with ignored files  | thing     | thing     | thing/in.x |
      | a folder, now an ignored file            | thing/a.c | thing     | thing      |

  Scenario: Everything was deleted
    Given the agent works and saves: one
    When the agent deletes everything
    And I save checkpoint "nothing"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I roll back to "nothing"
    Then the sandbox is exactly as it was at "nothing"

  Scenario: Odd names
    Given files with odd names: newline, quotes, dash, option, star, magic, latin-1, tilde, backslash, tab, bare blank
    And I save checkpoint "one"
    When the agent deletes everything
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    And I redo
    Then the sandbox is exactly as it was at "one"

  Scenario: Attributes, filters and settings that change bytes
    Given attributes and settings that change bytes
    And I save checkpoint "one"
    When the agent deletes everything
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario: A nested repository in the place of a file is not destroyed
    Given I save checkpoint "one"
    When the agent deletes "README.md"
    Given a nested repository "README.md" without commits
    Then "plan rollback auth one --yes" leaves everything as it is and exits with 5

  Scenario: A FIFO in the place of a file
    Given a FIFO in the place of "README.md"
    When the agent writes "x\n" to "new.txt"
    And I save checkpoint "one"
    Then the latest checkpoint tells that it does not hold: README.md
    And "new.txt" is "x\n" in the latest checkpoint
    And "plan rollback auth first --yes" leaves everything as it is and exits with 5

  Scenario: A FIFO that nobody asked for
    Given a FIFO in the place of "pipe"
    When the agent writes "x\n" to "new.txt"
    And I save checkpoint "one"
    And I roll back to "first"
    Then "new.txt" is not there

  Scenario: A folder replaced by a link
    Given the agent writes "x\n" to "docs/a.txt"
    And I save checkpoint "one"
    When the agent does this: replaces a folder by a link to itself
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I roll back to "two"
    Then the sandbox is exactly as it was at "two"

  Scenario Outline: The index in a state that no tree can hold: <state>
    Given the agent writes "one\n" to "new.txt"
    And the agent runs "<command>"
    And I save checkpoint "one"
    When the agent runs "git reset --quiet --hard"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

    Examples:
      | state         | command                      |
      | intent to add | git add --intent-to-add .    |
      | staged        | git add .                    |
      | split         | git update-index --split-index |

  Scenario: The user's garbage collection touches no checkpoint
    Given the agent works and saves: one
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m theirs"
    And I save checkpoint "committed"
    And the agent writes "staged\n" to "staged.txt"
    And the agent runs "git add staged.txt"
    And I save checkpoint "staged"
    When the agent runs "git reset --quiet --hard HEAD~1"
    And the user collects garbage without mercy
    Then the user's repository has no ref of ours but the plan's branch
    And the store has one ref for each checkpoint, all of the same depth
    When I roll back to "staged"
    Then the sandbox is exactly as it was at "staged"
    When I roll back to "committed"
    Then the sandbox is exactly as it was at "committed"
    And the agent runs "git fsck --strict"

  Scenario: A branch that another worktree has checked out is not moved
    Given the agent works and saves: one
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m theirs"
    And I save checkpoint "two"
    And the agent runs "git checkout --quiet --detach"
    When the user runs "git worktree add --quiet ../elsewhere plan/auth"
    Then "plan rollback auth one --yes" leaves everything as it is and exits with 5
