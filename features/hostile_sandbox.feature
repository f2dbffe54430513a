Feature: A sandbox that does not mean well
  Whoever works in a sandbox can write any file there, also the ones that git obeys. Backtrail
  looks at the sandbox without obeying any of it: nothing is run, nothing is redirected, nothing
  outside is written.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one

  Scenario Outline: Settings that run programs are not obeyed: in <place>
    Given hostile settings in <place>
    And hooks of every kind in the repository
    Then plain git falls into a trap
    When the plan lives its life: save, look, roll back, undo, redo
    Then nothing was run
    And rows and refs agree, and nothing is half done

    Examples:
      | place                                               |
      | the sandbox's config.worktree                       |
      | a file that the repository's configuration includes |
      | the user's own configuration                        |

  Scenario: A nested repository's settings are not obeyed
    Given a nested repository in the sandbox with hostile settings
    Then plain git falls into a trap
    When the plan lives its life: save, look, roll back, undo, redo
    Then nothing was run

  Scenario: A .git that leads elsewhere
    Given the sandbox's .git leads to a hostile git directory
    And I take stock of everything
    Then each of these exits with 7: plan save auth; plan rollback auth one --yes; plan undo auth; plan diff -p auth one
    And nothing was run
    And no file, no ref, no index and no row has changed

  Scenario: A .git that leads to another worktree of the repository
    Given the sandbox's .git leads to the git directory of another worktree
    And I take stock of everything
    Then each of these exits with 7: plan save auth; plan rollback auth one --yes; plan diff -p auth one
    And no file, no ref, no index and no row has changed

  Scenario: A .git that leads to a forged git directory of the repository
    Given the sandbox's .git leads to a forged git directory of this very repository
    And I take stock of everything
    Then each of these exits with 7: plan save auth; plan rollback auth one --yes; plan diff -p auth one
    And nothing was run
    And no file, no ref, no index and no row has changed

  Scenario: A sandbox that is a link
    Given the sandbox was moved away and is a link to where it is now
    And I take stock of everything
    Then each of these exits with 7: plan save auth; plan rollback auth one --yes; plan diff -p auth one
    And no file, no ref, no index and no row has changed

  Scenario: Inherited variables lead nowhere
    Given a decoy repository, and GIT_ variables that lead there
    When with these variables I run "plan save auth"
    Then it succeeds
    When with these variables I run "plan rollback auth first --yes"
    Then it succeeds
    And the sandbox is exactly as it was at "initial"
    When with these variables I run "plan undo auth"
    Then it succeeds
    And the sandbox is exactly as it was at "one"
    When with these variables I run "plan create second"
    Then it succeeds
    And the decoy is untouched
    And nothing was run
    And rows and refs agree, and nothing is half done

  Scenario: Forged content does not come back
    Given the content of "README.md" is replaced by a forgery with git replace
    When I run "plan save auth --label now"
    And the agent deletes "README.md"
    And I run "plan rollback auth now --yes"
    Then it succeeds
    And "README.md" holds "hello\n"

  Scenario Outline: A link to outside is never written through: in the place of <path>
    Given something precious outside of the sandbox
    And the agent puts a link to it in the place of "<path>"
    And I remember the sandbox as "linked"
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And what is outside is untouched
    When I undo
    Then the sandbox is exactly as it was at "linked"
    And what is outside is untouched

    Examples:
      | path      |
      | README.md |
      | src       |
      | src/lib   |

  Scenario Outline: A log of HEAD that is <what> is not written to: <how>
    Given something precious outside of the sandbox
    And the agent runs "git commit --quiet --allow-empty -m two"
    And the agent runs "<how>"
    And I save checkpoint "two"
    And the log of HEAD is replaced by <what>
    When I run "plan rollback auth one --yes"
    Then it succeeds
    And it notes "the move of HEAD is not noted in"
    And the sandbox is exactly as it was at "one"
    And what is outside is untouched
    When I run "plan rollback auth two --yes"
    Then it succeeds
    And the sandbox's commit is that of "two"
    And what is outside is untouched

    Examples:
      | what                                        | how                           |
      | a link to something precious                | git status                    |
      | a link to something precious                | git checkout --quiet --detach |
      | a second name of something precious         | git status                    |
      | a second name of something precious         | git checkout --quiet --detach |
      | a link to a file that is not there          | git checkout --quiet --detach |
      | a link to itself                            | git status                    |
      | a directory                                 | git checkout --quiet --detach |
      | a FIFO                                      | git status                    |
      | one in a directory outside                  | git status                    |
      | one in a directory outside                  | git checkout --quiet --detach |
      | one in a directory that is a link to itself | git status                    |
      | one in a directory that is a FIFO           | git checkout --quiet --detach |
      | one in a directory that is a file           | git status                    |

  Scenario Outline: A log of a branch that is <what> refuses what git would write to it
    Given something precious outside of the sandbox
    And the agent runs "git commit --quiet --allow-empty -m two"
    And the log of the sandbox's branch is replaced by <what>
    And I take stock of everything
    Then each of these exits with 5: plan rollback auth one --yes; plan rollback auth one --dry-run
    And no file, no ref, no index and no row has changed
    And what is outside is untouched

    Examples:
      | what                                |
      | a link to something precious        |
      | a second name of something precious |

  Scenario: Words that look like options are words
    Then each of these exits with 2: plan rollback auth --yes -- --output=x; plan save auth --label=--output=x; plan create -- --output=x; plan diff -p auth -- --output=x; plan checkpoint show auth -- --output=x
    And each of these exits with 3: plan create other --base=--output=x; plan status -- --output=x; plan save -p --output=x
    And no file called x was written anywhere

  Scenario: A home that others can write to is not used
    Given everybody may write to Backtrail's home
    Then each of these exits with 5: plan save auth; plan rollback auth one --yes; plan status auth
