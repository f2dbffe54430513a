Feature: A crash loses nothing and needs no repair
  The program may be killed at any moment, and what it keeps may be damaged in between. The next
  command puts everything right by itself, or says what it cannot put right and changes nothing.
  Kills at each and every step are tried in `crash_matrix.feature`.

  Scenario Outline: Whatever was done between a crash and the next command stays: somebody <edit>
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    When "plan rollback auth one --yes" is killed at "rollback.git_restored"
    And somebody <edit> in the sandbox
    And I run "plan save auth"
    Then it succeeds
    And it notes "plan undo auth"
    And the sandbox is exactly as it was at "edited"
    When I undo
    Then the sandbox is exactly as it was at "three"
    And rows and refs agree, and nothing is half done

    Examples:
      | edit                                  |
      | edits a file that comes back          |
      | edits a file that is the same in both |
      | adds a file                           |
      | deletes a file                        |
      | makes a file executable               |
      | replaces a file by a link             |
      | replaces a file by a folder           |
      | puts a folder where a file comes back |
      | puts an empty folder there            |
      | puts a folder of ignored files there  |
      | commits the present state             |

  Scenario: Nobody worked since: a file written only half is no reason to stop
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    When "plan rollback auth one --yes" is killed at "rollback.files_restored"
    And "work.txt" was written only half
    And I run "plan save auth"
    Then it succeeds
    And it notes "finished the rollback"
    And the sandbox is exactly as it was at "one"
    And rows and refs agree, and nothing is half done

  Scenario Outline: Nobody worked since: git removes a file before it writes it anew, <what>
    Given a repository with plan "auth"
    And plan.toml says: include_ignored = [".env"]
    And .gitignore in the sandbox says: .env
    And the agent writes "1\n" to "<path>"
    And the agent works and saves: one
    And the agent writes "2\n" to "<path>"
    And the agent works and saves: two
    When "plan rollback auth one --yes <more>" is killed at "rollback.restoring"
    And git had just removed "<removed>"
    And I run "plan save auth"
    Then it succeeds
    And it notes "finished the rollback to checkpoint 2 that was interrupted"
    And "<path>" holds "1\n"
    And rows and refs agree, and nothing is half done
    When I undo
    Then the sandbox is exactly as it was at "two"

    Examples:
      | what                     | path        | removed     | more               |
      | a file                   | src/app.py  | src/app.py  |                    |
      | the last one of a folder | deep/in/it  | deep        |                    |
      | one of some paths        | src/app.py  | src/app.py  | --path src         |
      | a chosen ignored file    | .env        | .env        |                    |
      | a chosen one, by path    | .env        | .env        | --path .env        |

  Scenario Outline: A file that is missing is no leave to write over what somebody did: <edit>
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    When "plan rollback auth one --yes" is killed at "rollback.restoring"
    And git had just removed "work.txt"
    And somebody <edit> in the sandbox
    And I run "plan save auth"
    Then it succeeds
    And it notes "the sandbox was changed since (README.md)"
    And the sandbox is exactly as it was at "edited"
    When I undo
    Then the sandbox is exactly as it was at "three"
    And rows and refs agree, and nothing is half done

    Examples:
      | edit                                  |
      | edits a file that is the same in both |
      | deletes a file                        |

  Scenario: A lock that a killed git left on the result's ref does not stop the recovery
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    When "plan rollback auth one --yes" is killed at "rollback.result_written"
    Given a killed git left the lock of the ref that is still to be written
    When I run "plan save auth"
    Then it succeeds
    And the sandbox is exactly as it was at "one"
    And no lock of git is left in the store
    And rows and refs agree, and nothing is half done

  Scenario: Stale locks in the store are removed
    Given a repository with plan "auth"
    And the agent works and saves: one, two
    And killed gits left locks everywhere in the store
    When I run "plan rollback auth one --yes"
    Then it succeeds
    And no lock of git is left in the store
    And the sandbox is exactly as it was at "one"

  Scenario: The user's own lock is the user's business
    Given a repository with plan "auth"
    And the agent works and saves: one, two
    And another git of the user's holds the sandbox's index
    When I run "plan rollback auth one --yes --wait 0"
    Then it exits with 8
    And their lock is still there
    And the sandbox is exactly as it was at "two"
    And rows and refs agree, and nothing is half done

  Scenario: A lock of ours on the sandbox's index is let go
    Given a repository with plan "auth"
    And the agent works and saves: one, two
    And a killed command left its own lock of the sandbox's index
    When I run "plan rollback auth one --yes"
    Then it succeeds
    And no lock of the sandbox's index is left
    And the sandbox is exactly as it was at "one"

  @storage
  Scenario: A ref that went missing is put back
    Given a repository with plan "auth"
    And the agent works and saves: one, two
    And the ref of checkpoint "one" is deleted
    When I run "plan save auth"
    Then it succeeds
    And rows and refs agree, and nothing is half done
    And every checkpoint can be brought back exactly

  @storage
  Scenario: A ref and objects that went missing are told loudly
    Given a repository with plan "auth"
    And the agent works and saves: one, two
    And the ref of checkpoint "one" is deleted
    And the content of "work.txt" at checkpoint "one" is lost from the store
    When I run "plan save auth"
    Then it succeeds
    And it notes "DAMAGED"
    And checkpoint "one" is damaged
    When I run "plan rollback auth one --yes"
    Then it exits with 5
    And the sandbox is exactly as it was at "two"

  Scenario: An object that went missing is noticed before anything is changed
    Given a repository with plan "auth"
    And the agent works and saves: one, two
    And the content of "work.txt" at checkpoint "one" is lost from the store
    When I run "plan rollback auth one --yes"
    Then it exits with 5 and says "damaged"
    And checkpoint "one" is damaged
    And the sandbox is exactly as it was at "two"
    When I run "plan rollback auth first --yes"
    Then it succeeds
    And the sandbox is exactly as it was at "initial"

  @storage
  Scenario: A row that went missing is rebuilt from its ref
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    And the row of checkpoint "two" is deleted by hand
    When I run "plan save auth"
    Then it succeeds
    And it notes "found in the store and listed again"
    And rows and refs agree, and nothing is half done
    When I roll back to "3"
    Then the sandbox is exactly as it was at "two"

  @storage
  Scenario: A row that went missing comes back with its label
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    And the row of checkpoint "two" is deleted by hand
    When I run "plan save auth"
    And I roll back to "two"
    Then the sandbox is exactly as it was at "two"

  Scenario Outline: A checkpoint that cannot be made is not made: git <subcommand> <way>
    Given a repository with plan "auth"
    And the agent works and saves: one, two
    And work that is in no checkpoint yet
    When "plan save auth" is run while git "<subcommand>" <way>
    Then it exits with 9
    And the newest checkpoint is failed and holds no ref
    And the sandbox is exactly as it was at "unsaved"
    And rows and refs agree, and nothing is half done
    When I run "plan save auth"
    Then it succeeds
    And these checkpoints can be brought back exactly: one, two

    @storage
    Examples:
      | subcommand   | way                                |
      | update-ref   | fails                              |

    Examples: Failures that the rows do not see
      | subcommand   | way                                |
      | write-tree   | fails                              |
      | commit-tree  | fails                              |
      | update-index | finds the disk full                |
      | update-index | empties the index and says nothing |

  Scenario Outline: A rollback that cannot go on can be undone: git <subcommand> <way>
    Given a repository with plan "auth"
    And the agent works and saves: one, two
    And work that is in no checkpoint yet
    When "plan rollback auth one --yes" is run while git "<subcommand>" <way>
    Then it exits with 9 and says "plan undo auth"
    When I run "plan undo auth"
    Then it succeeds
    And the sandbox is exactly as it was at "unsaved"
    And rows and refs agree, and nothing is half done

    Examples:
      | subcommand     | way                 |
      | read-tree -m   | fails               |
      | checkout-index | fails               |
      | checkout-index | finds the disk full |

  Scenario: The disk is full in the middle of a rollback, also for the rows
    Given a repository with plan "auth"
    And the agent works and saves: one, two
    And work that is in no checkpoint yet
    When "plan rollback auth one --yes" finds the disk full when it restores files, with git and with its rows
    Then it exits with 10 and says "free some space and try again; what was begun is then finished or taken back"
    When I run "plan save auth"
    Then it succeeds
    And it notes "finished the rollback"
    And the sandbox is exactly as it was at "one"
    When I run "plan undo auth"
    Then it succeeds
    And the sandbox is exactly as it was at "unsaved"
    And rows and refs agree, and nothing is half done

  Scenario Outline: Work after a crash that no checkpoint would hold stays: <what>
    Given a repository with plan "auth"
    And plan.toml says: max_file_size = "1 KiB"
    And the agent writes "one\n" to "work.txt"
    And I save checkpoint "one"
    When the agent writes "two\n" to "work.txt"
    And I save checkpoint "two"
    And "plan rollback auth one --yes" is killed at "rollback.restoring"
    And the agent runs "<command>"
    And I remember the sandbox as "edited"
    And I run "plan save auth"
    Then it succeeds
    And the sandbox is exactly as it was at "edited"

    Examples:
      | what      | command                                                      |
      | too large | sh -c 'yes \| head -c 2000 > work.txt'                       |
      | ignored   | sh -c 'echo work.txt >> .gitignore; echo hours > work.txt'   |
      | ignored elsewhere | sh -c 'echo work.txt >> $(git rev-parse --git-path info/exclude); echo hours > work.txt'   |
      | a FIFO    | sh -c 'rm work.txt; mkfifo work.txt'                         |
