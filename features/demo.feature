Feature: The demonstration
  `plan demo` shows a newcomer what Backtrail does, in a throw-away repository: good work is saved,
  wrecked in ten ways, brought back, lost again by an undo and brought back by a redo. Every claim
  is checked by a look at the disk that does not ask Backtrail. Nothing of the user's takes part.

  Background:
    Given a directory for temporary files

  Scenario: The whole story, with what to type for each step
    When I run "plan demo" in "elsewhere"
    Then it succeeds
    And it tells these commands, in this order:
      | command                                       |
      | git init shop                                 |
      | plan create auth                              |
      | plan save -m 'the login works' --label good   |
      | sh ../../agent.sh; plan diff good             |
      | plan rollback good --yes                      |
      | plan undo                                     |
      | plan redo                                     |
      | git -C shop status                            |
    And it tells what became of ten kinds of damage:
      | damage     | after the rollback |
      | edit       | restored           |
      | delete     | back again         |
      | rename     | has its old name   |
      | new files  | gone               |
      | .gitignore | rules are back     |
      | chmod      | executable again   |
      | symlink    | a directory again  |
      | commit     | off the branch     |
      | staging    | staged as it was   |
      | branch     | recreated          |
    And it prints ".env is ignored by git: it is kept apart"
    And it prints "plan create NAME"
    And nothing is left behind

  Scenario: For programs
    When I run "plan demo --format json" in "elsewhere"
    Then it succeeds
    And its JSON has command "demo"
    And its JSON has data.demo.verified true
    And its JSON has data.demo.kept null
    And the demonstration has these steps:
      | step       | looked at        |
      | repository |                  |
      | create     |                  |
      | save       |                  |
      | wreck      |                  |
      | rollback   | what was saved   |
      | undo       | the wreck        |
      | redo       | what was saved   |
      | checkout   | as before        |
    And nothing is left behind

  Scenario: In one line, and in many
    When I run "plan demo --quiet" in "elsewhere"
    Then it prints one line, with "nothing is left behind"
    When I run "plan demo --verbose --format rich" in "elsewhere"
    Then it prints "removed      src.bak/signin.py"
    And nothing is left behind

  Scenario: Whoever has seen enough may close the pipe
    When I run the demonstration and read only its first line
    Then it exits with 0
    And nothing is left behind

  Scenario: Kept, to play on with
    Given a repository
    When I run "plan demo --keep --format json" in "elsewhere"
    Then it succeeds
    And the sandbox that was kept holds what was saved
    When I run "plan undo" in the sandbox that was kept
    Then it succeeds
    And the sandbox that was kept holds the wreck
    When I run "plan redo" in the sandbox that was kept
    Then the sandbox that was kept holds what was saved
    When I run "plan demo --keep" with PLAN_ID=other
    Then it says where the sandbox is, and how to remove everything
    And it notes "PLAN_ID had no say here"

  Scenario: The agent that was kept wrecks nothing but its own sandbox
    Given a repository
    And I take stock of the user's repository
    When I run "plan demo --keep --format json" in "elsewhere"
    And the user starts the agent that was kept, with GIT_DIR set to the repository
    Then the user's repository is as it was
    And the sandbox that was kept holds the wreck
    When I run "plan rollback good --yes" in the sandbox that was kept
    Then it succeeds
    And the sandbox that was kept holds what was saved

  Scenario: No settings, hooks or variables of the user's take part
    Given a repository
    And every setting and variable that could mislead git or Backtrail
    And I take stock of everything
    When the demonstration is run with all of them in force
    Then it succeeds
    And it prints "On branch main"
    And no file, no ref, no index and no row has changed
    And there was no shouting

  Scenario Outline: It works <somewhere>
    When the demonstration is run <somewhere>
    Then it succeeds
    And nothing is left behind

    Examples:
      | somewhere                       |
      | in a directory that was deleted |
      | with an empty environment       |

  Scenario: It works for somebody who is not root, and who hides files from others
    Given a user who is not root may read the program
    When the demonstration is run by somebody who is not root, under a umask
    Then it succeeds
    And nothing is left behind

  Scenario Outline: An end in the middle leaves nothing behind: <signal> at <place>
    When the demonstration gets <signal> at <place>
    Then it exits with 130 and says "interrupted"
    And nothing is left behind

    Examples:
      | signal  | place                   |
      | SIGINT  | plan.worktree_added     |
      | SIGINT  | rollback.files_restored |
      | SIGINT  | demo.undone             |
      | SIGTERM | demo.rolled_back        |
      | SIGHUP  | demo.rolled_back        |

  Scenario: Ctrl-C while git is at work
    When the demonstration gets SIGINT while its git dawdles over "write-tree"
    Then it exits with 130 and says "interrupted"
    And nothing is left behind

  Scenario Outline: It cannot be shown here: <trouble>
    When the demonstration is run <trouble>
    Then it exits with <code>, says "<words>" and gives a hint
    And nothing is left behind

    Examples:
      | trouble                                    | code | words                           |
      | where TMPDIR is not there                  | 1    | cannot write to                 |
      | where TMPDIR is a file                     | 1    | cannot write to                 |
      | on a disk that is full                     | 1    | cannot write to                 |
      | without git                                | 9    | git is not installed            |
      | where chmod does nothing                   | 1    | does not show the damage        |
      | where cp fails                             | 1    | the script that wrecks          |
      | with a full disk behind standard output    | 1    | the output cannot be written    |

  Scenario Outline: It never pretends: after the <operation> somebody <deed>
    When after the <operation> of the demonstration somebody <deed>
    Then it exits with 11, says "<words>" and gives a hint
    And it does not say that all went well
    And nothing is left behind

    Examples:
      | operation | deed                     | words                           |
      | rollback  | swaps two letters        | src/cart.py: it has other bytes |
      | rollback  | edits the ignored file   | .env: a file of                 |
      | undo      | points a link elsewhere  | assets: it has other bytes      |
      | redo      | moves the branch         | the branch:                     |
      | end       | edits the checkout       | README.md: a file of            |

  Scenario: What contradicts the demonstration can be kept to look at
    When after the rollback of the demonstration, to be kept, somebody removes a document
    Then it exits with 11, says "it is missing" and gives a hint
    And the repository is still there to look at

  Scenario: The witness misses nothing
    Given a repository
    Then the witness sees whatever somebody does:
      | deed                      | says                                                           |
      | swaps two letters         | README.md: it has other bytes                                  |
      | adds a line               | README.md: a file of 10 bytes                                  |
      | takes away a permission   | README.md: a file of 10 bytes, mode 400 instead of a file      |
      | removes a file            | src/app.py: it is missing                                      |
      | makes a file              | new.txt: it should not be there                                |
      | makes an empty folder     | empty: it should not be there                                  |
      | makes a link              | link: it should not be there                                   |
      | points the link elsewhere | link: it has other bytes                                       |
      | replaces a file by a link | README.md: a link of                                           |
      | makes a pipe              | pipe: it should not be there                                   |
      | stages a file             | what is staged: ':                                             |
      | commits                   | the branch:                                                    |
      | detaches HEAD             | HEAD:                                                          |
      | makes an ignored file     | build: it should not be there                                  |
