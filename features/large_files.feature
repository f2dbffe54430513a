Feature: Large files
  Git and Backtrail read and write a large file a piece at a time. What it takes is disk and time,
  never memory, whatever the limit in `plan.toml` lets in.

  Background:
    Given a repository with plan "auth"

  @unmeasured
  Scenario: A large file goes there and back without ever being in memory
    Given plan.toml says: max_file_size = "4 GiB"
    And a file "large.bin" that is larger than all memory that may be used
    When I save checkpoint "one" under an eye on memory
    And one byte in the middle of "large.bin" changes
    And I roll back to "one" under an eye on memory
    Then "large.bin" is what it was first
    When I undo under an eye on memory
    Then "large.bin" is what it was then
    And memory never held more than a part of the file

  @unmeasured
  Scenario: A large file that was committed, and that the repository has lost, comes back the same way
    Given a file "large.bin" that is larger than all memory that may be used
    And the agent runs "git add ."
    And the agent runs "git commit --quiet -m large"
    When I save checkpoint "one" under an eye on memory
    And the agent runs "git reset --quiet --hard HEAD~1"
    And the agent runs "git reflog expire --expire=now --all"
    And the agent runs "git gc --quiet --prune=now"
    And I roll back to "one" under an eye on memory
    Then "large.bin" is what it was first
    And memory never held more than a part of the file

  Scenario: A large file among small ones
    Given I save checkpoint "one"
    And the agent writes "small\n" to "a.txt"
    And the agent writes 20000000 bytes to "b.bin"
    And the agent writes "small\n" to "c.txt"
    When I roll back to "one"
    Then "b.bin" is not there
    When I undo
    Then "b.bin" has 20000000 bytes
    And "a.txt" holds "small\n"
    And "c.txt" holds "small\n"
    When the agent writes "changed\n" to "a.txt"
    And the agent writes 30000000 bytes to "b.bin"
    And I save checkpoint "two"
    Then the latest checkpoint tells of nothing that it does not hold
    And the store has no pack that is half done

  Scenario: A large file among chosen ignored ones
    Given plan.toml says: include_ignored = [".env", "data.sqlite"]
    And .gitignore in the sandbox says: .env, data.sqlite
    And the agent writes "KEY=1\n" to ".env"
    And the agent writes 20000000 bytes to "data.sqlite"
    And I save checkpoint "one"
    When the agent writes "KEY=2\n" to ".env"
    And the agent writes 30000000 bytes to "data.sqlite"
    And I roll back to "one"
    Then ".env" holds "KEY=1\n"
    And "data.sqlite" has 20000000 bytes
    When I undo
    Then ".env" holds "KEY=2\n"
    And "data.sqlite" has 30000000 bytes

  Scenario Outline: What is too large to be captured is saved first if it is in the way: <where>
    Given plan.toml says: max_file_size = "1 KiB"
    And the agent writes "one\n" to "<path>"
    And I save checkpoint "one"
    When the agent runs "rm -r place"
    And the agent writes 2000 bytes to "<large>"
    And I save checkpoint "two"
    Then the latest checkpoint tells that it does not hold: <large>
    When I roll back to "one"
    Then "<path>" holds "one\n"
    When I undo
    Then "<large>" has 2000 bytes

    Examples:
      | where                           | path       | large      |
      | in the place of a directory     | place/file | place      |
      | in a directory, for a file      | place      | place/file |
