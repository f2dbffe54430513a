Feature: Plain and heavy
  Twenty-five thousand edited files are nothing unusual: a formatter does that. What is many takes
  longer, and that is all. `nox -s heavy` measures every command at full size.

  Scenario Outline: A git that is slow to read what it is told is told all of it: <command>
    Given a repository with plan "auth"
    And I save checkpoint "one"
    And the agent writes 600 files with names of 200 characters
    When "<command>" is run while git takes 3 seconds before it reads
    Then it succeeds

    Examples:
      | command                      |
      | plan save auth               |
      | plan status auth             |
      | plan rollback auth one --yes |

  @unmeasured
  Scenario: Thousands of files are changed, saved, taken back and brought back
    Given a repository with plan "auth"
    And the agent writes 3000 files
    And I save checkpoint "many"
    When the agent edits 1000 of them, deletes 1000 others and adds 1000
    And I remember the sandbox as "changed"
    And I run "plan rollback auth many --yes" on a terminal
    Then the terminal showed less than 100 lines
    And the terminal showed "Changes reverted: 3000 files"
    And the terminal showed "… and 2980 more (-v shows all)"
    And the terminal showed "looking at the sandbox"
    When I undo
    Then the sandbox is exactly as it was at "changed"

  Scenario Outline: Looking at much shows that it goes on, and not every line: <command>
    Given a repository with plan "auth"
    And the agent writes 50 files
    When I run "<command>" on a terminal
    Then the terminal showed "<progress>"
    And the terminal showed "… and 30 more (-v shows all)"

    Examples:
      | command           | progress               |
      | plan status auth  | looking at the sandbox |
      | plan diff -p auth | comparing              |

  Scenario: What is ignored by the thousand is not kept in the log of every rollback
    Given a repository with plan "auth"
    And .gitignore in the sandbox says: file[1-9]*.txt
    And the agent works and saves: one
    And the agent writes 3000 files
    When I roll back to "one"
    And I undo
    Then no operation takes more than 1000 bytes of the log
