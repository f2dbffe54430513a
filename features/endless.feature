Feature: Whatever is read of a sandbox comes to an end
  A FIFO blocks whoever opens it, a device never ends, a rule with many wild cards is matched for
  ever, and directories lie deeper than programs can call themselves. Each command ends within
  seconds, says what it is about, and leaves no lock behind.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one

  Scenario Outline: <what> is <file> of a nested repository, and its files are captured
    Given <what> in the place of "<file>" of a repository "inner"
    And the agent writes "kept" to "inner/deep/file.txt"
    When I run "plan save auth --label two"
    Then it notes "inner/.git"
    When the agent deletes "inner/deep/file.txt"
    And I run "plan rollback auth two --yes"
    Then it succeeds
    And "inner/deep/file.txt" holds "kept"
    When I run "plan rollback auth one --yes"
    Then it succeeds
    And "inner/deep" does not come back

    Examples:
      | what                | file           |
      | a FIFO              | .git           |
      | a link to /dev/zero | .git           |
      | a file of 1 TiB     | .git           |
      | a FIFO              | .git/HEAD      |
      | a link to /dev/zero | .git/HEAD      |
      | a FIFO              | .git/commondir |
      | a file of 1 TiB     | .git/commondir |
      | a FIFO              | .git/config    |

  Scenario: A nested repository that holds nothing but a FIFO
    Given a FIFO in the place of ".git/HEAD" of a repository "inner"
    When I run "plan save auth --label two"
    Then it notes "inner/.git"

  Scenario: Ignored repositories of which git cannot tell what they are survive
    Given a FIFO in the place of ".git/HEAD" of a repository "inner"
    And the agent writes "kept" to "inner/file.txt"
    And the agent writes "inner" to ".gitignore"
    When I run "plan rollback auth one --yes"
    Then it succeeds
    And "inner/file.txt" holds "kept"

  Scenario Outline: What is said of a FIFO that is <place> can be followed
    Given a FIFO in the place of <place>
    When I run "plan save" in the sandbox
    Then it exits with 7 and says "is not a plain file: git could not work here either"
    And it notes "plan save PLAN"
    When I run "plan rollback auth one --yes" in the sandbox
    Then it exits with 7 and says "is not a plain file"
    When I run "plan save auth"
    Then it exits with 7 and says "<hint>"
    When what it says is moved away: <away>
    And the user runs "git worktree repair"
    And I run "<command>"
    Then it succeeds
    And the sandbox is exactly as it was at "one"

    Examples:
      | place                          | hint                                          | away              | command                      |
      | .git of the sandbox            | .git' away, and git worktree repair           | the file          | plan rollback auth one --yes |
      | HEAD of its git directory      | auth' away, and plan restore auth saves       | the git directory | plan restore auth            |
      | commondir of its git directory | auth' away, and plan restore auth saves       | the git directory | plan restore auth            |

  Scenario: A sandbox of which the git directory is gone tells where help is, also from inside
    Given the git directory of the sandbox is gone
    When I run "plan save" in the sandbox
    Then it exits with 7 and says "which is no git directory"
    And it notes "plan save PLAN with plan -C"
    When I run "plan restore auth"
    Then the sandbox is exactly as it was at "one"

  Scenario Outline: <what> is <place>
    Given <what> in the place of <place>
    Then <commands> end within seconds with <code> and say "<said>"
    When what was in that place is back
    And I run "plan save auth --wait 0"
    Then it succeeds
    And rows and refs agree, and nothing is half done

    Examples:
      | what                | place                           | code | said                          | commands                     |
      | a FIFO              | .git of the sandbox             | 7    | is no longer a git worktree   | save, diff, rollback         |
      | a file of 1 TiB     | .git of the sandbox             | 7    | is no longer a git worktree   | save, diff, rollback         |
      | a FIFO              | HEAD of its git directory       | 7    | is no longer a git worktree   | save, diff, rollback         |
      | a FIFO              | index of its git directory      | 9    | index' is not a plain file    | save, diff, rollback, remove |
      | a file of 1 TiB     | index of its git directory      | 9    | index' is far too large       | save, diff, rollback, remove |
      | a FIFO              | config of the repository        | 5    | config' is a FIFO or a device | save, diff, rollback, remove |
      | a FIFO              | packed-refs of the repository   | 5    | refs' is a FIFO or a device   | save, diff, rollback, remove |
      | a file of 1 TiB     | packed-refs of the repository   | 5    | refs' is far too large        | save, diff, rollback, remove |
      | a link to /dev/zero | its branch                      | 5    | auth' is a FIFO or a device   | save, diff, rollback, remove |
      | a FIFO              | its branch                      | 5    | auth' is a FIFO or a device   | save, diff, rollback, remove |
      | a file of 1 TiB     | .gitignore of the sandbox       | 5    | '.gitignore' is far too large | save, diff, rollback, remove |
      | a hopeless rule     | .gitignore of the sandbox       | 5    | a rule in .gitignore keeps    | save, rollback               |
      | a hopeless rule     | info/exclude of the repository  | 5    | a rule in info/exclude        | save, rollback               |

  Scenario Outline: A mebibyte of <what> in a list of things to do
    Given git's list "<list>" is a mebibyte of <what>
    Then each of these ends within seconds: save, diff, rollback

    Examples:
      | what                  | list                         |
      | line ends             | sequencer/todo               |
      | line ends             | rebase-merge/done            |
      | blanks                | sequencer/todo               |
      | tabs                  | rebase-merge/git-rebase-todo |
      | vertical tabs         | sequencer/todo               |
      | carriage returns      | sequencer/todo               |
      | letters               | sequencer/todo               |
      | digits                | rebase-merge/done            |
      | words without a name  | rebase-merge/done            |

  Scenario: A list of things to do that is longer than any
    Given git's list "sequencer/todo" is sixteen mebibytes of line ends
    When I run "plan save auth"
    Then it succeeds
    When I run "plan rollback auth one --yes"
    Then it exits with 5 and says "sequencer/todo is far too long"

  Scenario Outline: Nothing can be opened or read: <what> is <place>
    Given <what> in the place of <place>
    Then <commands> end within seconds with <code> and say "<said>"
    When what was in that place is back
    And I run "plan save auth --wait 0"
    Then it succeeds
    And rows and refs agree, and nothing is half done

    Examples:
      | what                         | place                          | code | said                        | commands                     |
      | a link to itself             | index of its git directory     | 9    | index' is not a plain file  | save, diff, rollback, remove |
      | a link to too long a name    | index of its git directory     | 9    | index' is not a plain file  | save, diff, rollback, remove |
      | a link to /proc/self/pagemap | index of its git directory     | 9    | index' is not a plain file  | save, diff, rollback, remove |
      | a link to /proc/self/mem     | index of its git directory     | 9    | index' is not a plain file  | save, diff, rollback, remove |
      | a link to itself             | HEAD of its git directory      | 7    | is no longer a git worktree | save, diff, rollback         |
      | a link to too long a name    | HEAD of its git directory      | 7    | is no longer a git worktree | save, diff, rollback         |
      | a link to /proc/self/pagemap | HEAD of its git directory      | 9    | HEAD' is not a plain file   | save, diff, rollback, remove |
      | a link to itself             | commondir of its git directory | 7    | is no longer a git worktree | save, diff, rollback         |
      | a link to too long a name    | commondir of its git directory | 7    | is no longer a git worktree | save, diff, rollback         |
      | a link to too long a name    | gitdir of its git directory    | 7    | disagree                    | save, diff, rollback         |
      | a link to itself             | .git of the sandbox            | 7    | is no longer a git worktree | save, diff, rollback         |
      | a link to too long a name    | .git of the sandbox            | 7    | is no longer a git worktree | save, diff, rollback         |

  Scenario Outline: The index of an attached main checkout is <what>
    Given plan "here" on the main checkout
    And <what> in the place of index of the repository
    Then saving and going back in "here" exit with 9 and say "<said>"

    Examples:
      | what                         | said                                                  |
      | a link to itself             | cannot be read: Too many levels of symbolic links     |
      | a link to too long a name    | cannot be read: File name too long                    |

  Scenario: A pattern of plan.toml with too many wild cards
    Given the user excludes "a*"
    And files with names for which a hopeless rule is tried for ever
    And plan.toml chooses the ignored files of a hopeless rule
    When I run "plan save auth"
    Then it exits with 5 and says "a rule in plan.toml keeps git busy for ever"

  Scenario: Many wild cards that are no harm
    Given the agent writes "*a*b*c*d*e*f*g*h*i*j*k*l" to ".gitignore"
    When I run "plan save auth"
    Then it succeeds

  Scenario: A rule with few wild cards, for very deep directories
    Given a file below 900 directories named "x"
    And the agent writes "**/x/**/x/**/x/**/b" to ".gitignore"
    When I run "plan save auth"
    Then it exits with 5 and says "a rule in .gitignore keeps git busy for ever: '**/x/**/x"
    When the agent deletes ".gitignore"
    And I run "plan save auth --wait 0"
    Then it succeeds
    And rows and refs agree, and nothing is half done

  Scenario: The same rule, where no directory is deep
    Given a file below 20 directories named "x"
    And the agent writes "**/x/**/x/**/x/**/b" to ".gitignore"
    When I run "plan save auth"
    Then it succeeds

  Scenario: .gitattributes larger than git reads
    Given a file of 1 TiB in the place of .gitattributes of the sandbox
    When I run "plan save auth"
    Then it succeeds
    When I run "plan status auth"
    Then it succeeds

  Scenario: A git whose owner was killed does not keep the lock
    Given a hopeless rule in the place of .gitignore of the sandbox
    And "plan save auth" is killed while its git is busy for ever
    When what was in that place is back
    And I run "plan save auth"
    Then it succeeds
    And that git has ended as well
    And rows and refs agree, and nothing is half done

  Scenario: A git whose owner is alive keeps the lock
    Given the agent writes "new" to "new.txt"
    And "plan save auth" waits for its git
    When I run "plan save auth --wait 3"
    Then it exits with 8 and says "is in use by another process"

  Scenario: Directories nested deeper than programs can call themselves
    Given a file below 1200 directories named "d"
    When I run "plan save auth --label two"
    Then each of these succeeds: status, diff, export, export as an archive
    When I run "plan rollback auth one --yes"
    Then it succeeds
    And that file is gone
    When I run "plan undo auth --yes"
    Then it succeeds
    And that file is there again
    When I run "plan remove auth --yes"
    And I run "plan restore auth"
    Then it succeeds
    And that file is there again
    When I run "plan remove auth --yes"
    And I run "plan remove auth --purge --yes --confirm auth"
    Then it succeeds
    And nothing of the sandbox is left

  Scenario: Paths longer than the system allows
    Given a file below 60 directories named "a name of about one hundred letters so that few of them make a path that no program can open at all"
    When I run "plan save auth --label two"
    Then it notes "cannot be read"
    And each of these succeeds: status, diff, export
    When I run "plan rollback auth one --yes"
    Then it succeeds
    When I run "plan remove auth --yes"
    And I run "plan remove auth --purge --yes --confirm auth"
    Then it succeeds
    And nothing of the sandbox is left
