Feature: Permission bits, empty directories and special files
  A tree of git knows one bit of a mode and no directory at all. A checkpoint keeps the rest beside
  the tree, without walking the sandbox each time.

  Background:
    Given a repository with plan "auth"

  Scenario: Permission bits of files and directories
    Given the agent writes "secret\n" to "secret.txt"
    And the agent writes "x\n" to "locked/inside.txt"
    And these modes: secret.txt 0600, README.md 0444, src/app.py 0755, locked 0500, src 0700
    And I save checkpoint "one"
    When these modes: secret.txt 0644, README.md 0640, src/app.py 0644, locked 0755, src 0755
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And restored were: README.md, locked/, secret.txt, src/, src/app.py
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario: Permission bits of the sandbox itself
    Given these modes: . 0500
    And I save checkpoint "one"
    When the agent writes "x\n" to "new.txt"
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And the mode of "." is 0500
    When these modes: . 0750
    And I remember the sandbox as "three"
    And I run "plan status auth --exit-code"
    Then it exits with 1
    And it prints "./"
    When I roll back to "one"
    Then restored were: ./
    And the mode of "." is 0500
    When I undo
    Then the sandbox is exactly as it was at "three"
    When I roll back only "README.md" to "first"
    Then the mode of "." is 0750

  Scenario: A mode that changes in the second in which the sandbox was made
    When these modes: README.md 0600
    And I save checkpoint "one"
    And these modes: README.md 0640
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I roll back to "two"
    Then the sandbox is exactly as it was at "two"

  Scenario: Another umask is no exception
    Given everything in the sandbox may be changed by the group
    And I save checkpoint "one"
    When the agent deletes everything
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario: A file that is only chmodded shows as changed
    Given I save checkpoint "one"
    When these modes: README.md 0600
    And I run "plan status auth --exit-code"
    Then it exits with 1
    And it prints "mode_changed"
    When I run "plan rollback auth one --yes"
    Then it succeeds
    And the sandbox is exactly as it was at "one"

  Scenario: Set-bits are left out, and that is said
    Given the agent writes "x\n" to "tool"
    And these modes: tool 4755
    When I save checkpoint "one"
    Then the latest checkpoint tells that it does not hold: tool
    When the agent deletes "tool"
    And I roll back to "one"
    Then the mode of "tool" is 0755

  Scenario: Empty directories come and go
    Given the agent makes the directories: empty, nested/deeply/empty, src/new empty
    And these modes: empty 0700
    And I save checkpoint "one"
    When the agent deletes "empty"
    And the agent deletes "nested"
    And the agent makes the directories: later/one, src/two
    And the agent writes "x\n" to "src/new empty/file.txt"
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario Outline: Nested empty directories where .gitignore says: <rules>
    Given .gitignore in the sandbox says: <rules>
    And the agent makes the directories: a/b, src/c/d
    And I save checkpoint "one"
    When the agent deletes "a"
    And the agent deletes "src/c"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

    Examples:
      | rules         |
      | *, !*/, !*.py |
      | backtrail     |

  Scenario: A directory that the rollback empties is there as it was
    Given the agent makes the directories: out
    And I save checkpoint "one"
    When the agent writes "x\n" to "out/deep/file.txt"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario: A directory whose files were all deleted is empty, not gone
    Given the agent writes "x\n" to "only/one.txt"
    And I save checkpoint "one"
    When the agent deletes "only/one.txt"
    And I save checkpoint "two"
    And I roll back to "one"
    And I roll back to "two"
    Then the sandbox is exactly as it was at "two"

  Scenario: Directories that are ignored, or hold ignored files alone, are left alone
    Given the agent makes the directories: build/cache, kept
    And the agent writes "x\n" to "kept/debug.log"
    And I save checkpoint "one"
    When the agent writes "x\n" to "new.txt"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario: An ignored empty directory in the place of a file is not lost
    Given the agent writes "x\n" to "thing"
    And I save checkpoint "one"
    When the agent deletes "thing"
    And the agent writes "thing\n" to ".gitignore"
    And the agent makes the directories: thing/inside
    And these modes: thing/inside 0700
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario: An empty directory that comes back where rules ignore it by now
    Given the agent makes the directories: d/e/deep
    And the agent writes "x\n" to "d/x"
    And I save checkpoint "one"
    When the agent deletes "d/e"
    And the agent writes "*\n" to "d/.gitignore"
    And the agent writes "y\n" to "d/x"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then "d/e/deep" is there
    When I remember the sandbox as "three"
    And I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "three"
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario: An empty directory that is ignored, but was not at the checkpoint
    Given the agent works and saves: one
    When the agent makes the directories: d/e
    And the agent writes "*.log\nbuild/\nd/\n" to ".gitignore"
    And I remember the sandbox as "two"
    And I roll back to "one"
    And I remember the sandbox as "three"
    And I undo
    Then the sandbox is exactly as it was at "two"
    And left alone were: d/e/
    When I redo
    Then the sandbox is exactly as it was at "three"

  Scenario Outline: A file comes back into a directory that holds <what>
    Given the agent writes "x\n" to "d/x"
    And the agent runs "<make>"
    And these modes: d 0700
    And I save checkpoint "one"
    When the agent runs "rm d/x"
    And the agent writes "<rules>" to ".gitignore"
    And these modes: d 0750
    And I remember the sandbox as "two"
    And I run "plan rollback auth one --dry-run --format json"
    And I then run "plan rollback auth one --yes --format json"
    Then what happened is what the dry run told
    And the mode of "d" is 0700
    When I remember the sandbox as "three"
    And I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "three"
    When I roll back only "d/x" to "first"
    And I undo
    Then the sandbox is exactly as it was at "three"

    Examples:
      | what                    | make          | rules         |
      | an ignored file alone   | touch d/l.log | *.log\n       |
      | nothing, and is ignored | true          | *.log\nd/\n   |

  Scenario: A file comes back in the place of a directory that is ignored
    Given the agent writes "x\n" to "d"
    And the agent writes "*.log\nd/\n" to ".gitignore"
    And I save checkpoint "one"
    When the agent deletes "d"
    And the agent makes the directories: d/e/f, d/g
    And the agent writes "x\n" to "d/e/x"
    And these modes: d 0750, d/e 0700, d/e/f 0711
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When I redo
    Then the sandbox is exactly as it was at "one"

  Scenario: A directory that had to be opened stays for an ignored file, as it was
    Given the agent writes "x\n" to "d/x.log"
    And these modes: d 0555
    And I save checkpoint "one"
    When these modes: d 0755
    And the agent writes "x\n" to "d/new"
    And these modes: d 0555
    And I roll back to "one"
    Then "d/new" is not there
    And the mode of "d" is 0555

  Scenario: The directory of a chosen ignored file
    Given plan.toml says: include_ignored = ["data/*.sqlite"]
    And .gitignore in the sandbox says: data/
    And the agent writes "rows\n" to "data/app.sqlite"
    And these modes: data 0700
    And I save checkpoint "one"
    When the agent writes "more rows\n" to "data/app.sqlite"
    And these modes: data 0750
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then the mode of "data" is 0700
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario Outline: In the place of an empty directory: <what>
    Given the agent makes the directories: thing
    And I save checkpoint "one"
    When the agent deletes "thing"
    And the agent does this to "thing": <what>
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | what             |
      | makes a file     |
      | makes a link     |
      | makes a folder   |
      | makes an ignored file |

  Scenario Outline: <old> in the place of which there is <new>
    Given the agent does this to "thing": makes <old>
    And I save checkpoint "one"
    When the agent deletes "thing"
    And the agent does this to "thing": makes <new>
    And I save checkpoint "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | old             | new             |
      | a file          | a folder        |
      | a file          | a link          |
      | a folder        | a file          |
      | a folder        | a dangling link |
      | a link          | a folder        |
      | an absolute link | a file         |
      | an empty folder | a folder        |

  Scenario: FIFOs and sockets are left alone, and listed
    Given a FIFO in the place of "pipe"
    And a socket in the place of "src/socket"
    And a FIFO in the place of "old.log"
    When I save checkpoint "one"
    Then the latest checkpoint tells that it does not hold: pipe, src/socket
    When the agent writes "x\n" to "new.txt"
    And I roll back to "one"
    Then left alone were: pipe, src/socket
    And the sandbox is exactly as it was at "one"

  Scenario: A special file is noticed whenever it appears
    Given I save checkpoint "one"
    When a FIFO in the place of "src/lib/pipe"
    And I save checkpoint "two"
    Then the latest checkpoint tells that it does not hold: src/lib/pipe

  Scenario Outline: <what> appears in a directory whose date is then put back
    Given the agent runs "touch -d 2020-01-01 src"
    And I save checkpoint "one"
    And the agent runs "sleep 2.1"
    And I save checkpoint "two"
    When the agent runs "<command>"
    And the agent runs "touch -d 2020-01-01 src"
    And the agent writes "x\n" to "new.txt"
    And I save checkpoint "three"
    Then the latest checkpoint tells that it does not hold: <path>
    When I roll back to "one"
    Then left alone were: <path>
    And "new.txt" is not there

    Examples:
      | what         | command                  | path     |
      | A FIFO       | mkfifo src/pipe          | src/pipe |
      | A repository | git init --quiet src     | src/.git |

  Scenario: Names of the greatest length, and names that begin and end with blanks
    Given files with odd names: longest, leading blank, trailing blank, bare dots
    And I save checkpoint "one"
    When the agent deletes everything
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario: A name that git cannot store is told
    Given the agent writes "x\n" to "src/.GIT/file"
    When I save checkpoint "one"
    Then the latest checkpoint tells that it does not hold: src/.GIT/file
    When I roll back to "first"
    Then "src/.GIT/file" holds "x\n"

  Scenario: A file becomes something that git cannot store under its name
    Given the agent writes "# modules\n" to ".gitmodules"
    And I save checkpoint "one"
    When the agent deletes ".gitmodules"
    And the agent does this to ".gitmodules": makes a link
    And I save checkpoint "two"
    Then the latest checkpoint tells that it does not hold: .gitmodules
    And ".gitmodules" is not in the latest checkpoint
    When I remember the sandbox as "refused"
    And I run "plan rollback auth one --yes"
    Then it exits with 5
    And the sandbox is exactly as it was at "refused"
    When the agent deletes ".gitmodules"
    And I roll back to "one"
    Then ".gitmodules" holds "# modules\n"

  Scenario: What needs no change is not touched
    Given the agent works and saves: one, two
    And I note the dates and inodes of every file
    When I roll back to "one"
    Then only these files have another date or inode: work.txt

  Scenario Outline: A file that has another name <where> does not share its permission bits
    Given plan.toml says: include_ignored = ["*.log"]
    And the agent writes "key\n" to "<file>"
    And these modes: <file> 0640
    And I save checkpoint "one"
    When the agent runs "sh -c 'echo key > <other>; chmod 0600 <other>; ln -f <other> <file>'"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then the mode of "<file>" is 0640
    And the mode of "<other>" is 0600
    And "<file>" holds "key\n"
    When I undo
    Then the mode of "<file>" is 0600
    And the mode of "<other>" is 0600

    Examples:
      | where              | file      | other       |
      | outside            | key.txt   | ../outside  |
      | outside            | key.log   | ../outside  |

  Scenario: Two names of one file that were two files with other permission bits
    Given the agent writes "same\n" to "a"
    And the agent writes "same\n" to "b"
    And these modes: a 0644, b 0600
    And I save checkpoint "one"
    When the agent runs "ln -f a b"
    And I remember the sandbox as "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"

  Scenario Outline: A directory that holds nothing but <what> is there, with its permission bits
    Given plan.toml says: max_file_size = "1 KiB"
    And the agent runs "<make>"
    And these modes: p 0750, p/q 0700
    And I save checkpoint "one"
    When these modes: p 0755, p/q 0711
    And I run "plan diff -p auth --format json"
    Then its JSON tells of the changed: p/, p/q/
    When I remember the sandbox as "two"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    When I undo
    Then the sandbox is exactly as it was at "two"
    When the agent deletes "p"
    And I remember the sandbox as "three"
    And I roll back to "one"
    Then the mode of "p" is 0750
    And the mode of "p/q" is 0700
    When I undo
    Then the sandbox is exactly as it was at "three"
    When the agent writes "in its place\n" to "p"
    And I remember the sandbox as "four"
    And I roll back to "one"
    Then the mode of "p/q" is 0700
    When I undo
    Then the sandbox is exactly as it was at "four"

    Examples:
      | what                        | make                                                     |
      | a FIFO                      | sh -c 'mkdir -p p/q; mkfifo p/q/fifo'                    |
      | a file that is too large    | sh -c 'mkdir -p p/q; head -c 5000 /dev/zero > p/q/large' |
      | a repository without files  | sh -c 'git init -q p/q'                                  |
