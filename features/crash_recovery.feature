Feature: A crash loses nothing and needs no repair
  The program may be killed at any moment, also while it repairs what an earlier kill left. The
  next command puts everything right by itself: what was acknowledged is there byte for byte, the
  sandbox is as it was or as it was to become, and the plan can be used at once.
  With `BACKTRAIL_EXAMPLES` set, every pair of places is tried.

  Scenario Outline: <what> is killed at every step
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    And work that is in no checkpoint yet
    And already done: "<done before>"
    When "<command>" is killed at each of its failpoints, and each time the next command is run
    Then the failpoints were all those of: <families>
    And every time the plan was usable at once
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done
    And every time the sandbox was wholly as before or wholly as asked for, and undo led back
    And every time each acknowledged checkpoint was exact

    Examples:
      | what             | command                      | done before                               | families         |
      | Saving           | plan save auth               |                                           | create           |
      | Rolling back     | plan rollback auth one --yes |                                           | create, rollback |
      | Undoing          | plan undo auth               | plan rollback auth one --yes              | create, rollback |
      | Redoing          | plan redo auth               | plan rollback auth one --yes; plan undo auth | create, rollback |

  Scenario: A rollback is killed at every step, and its recovery as well, at one step after the other
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    And work that is in no checkpoint yet
    When "plan rollback auth one --yes" is killed at each of its failpoints, and each time the next command is killed at every other failpoint of its recovery
    Then at least 25 crashes of crashes were lived through
    And every time the plan was usable at once
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done
    And every time the sandbox was wholly as before or wholly as asked for, and undo led back
    And every time each acknowledged checkpoint was exact

  Scenario Outline: <what> is killed at every step, and its recovery as well
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    And work that is in no checkpoint yet
    And already done: "<done before>"
    When "<command>" is killed at each of its failpoints, and each time the next command is killed at another one
    Then at least <count> crashes of crashes were lived through
    And every time the plan was usable at once
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done
    And every time the sandbox was wholly as before or wholly as asked for, and undo led back
    And every time each acknowledged checkpoint was exact

    Examples:
      | what    | command        | done before                                  | count |
      | Saving  | plan save auth |                                              | 4     |
      | Undoing | plan undo auth | plan rollback auth one --yes                 | 13    |

  Scenario: Work done between a crash and the next command is never overwritten
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    And work that is in no checkpoint yet
    When "plan rollback auth one --yes" is killed wherever files may be half changed, and each time somebody edits a file that comes back before the next command
    Then it happened at least 7 times
    And every time the plan was usable at once
    And every time the edit stayed in place, and undo led back to before the command
    And every time a notice said what to type
    And every time the edited state was kept as a checkpoint
    And every time complete checkpoints and refs were one to one, connected, and nothing was half done

  Scenario Outline: Whatever was done between a crash and the next command stays: somebody <edit>
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    When a new process of "plan rollback auth one --yes" is killed at "rollback.git_restored"
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

  Scenario: Killed at random moments, git and all
    Given a repository with plan "auth"
    And the agent works and saves: one, two, three
    When "plan rollback auth one --yes" is killed at random moments 12 times, git and all
    Then after the next command rows and refs agreed every time, and nothing was lost
    And every checkpoint can be brought back exactly

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
    When I run "plan rollback auth one --yes"
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

  Scenario: A ref that went missing is put back
    Given a repository with plan "auth"
    And the agent works and saves: one, two
    And the ref of checkpoint "one" is deleted
    When I run "plan save auth"
    Then it succeeds
    And rows and refs agree, and nothing is half done
    And every checkpoint can be brought back exactly

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

    Examples:
      | subcommand   | way                                |
      | write-tree   | fails                              |
      | update-ref   | fails                              |
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
      | subcommand           | way                 |
      | read-tree -m -u | fails               |
      | read-tree -m -u | finds the disk full |
