Feature: Refusals
  What cannot be done safely is refused: with the documented exit code, one sentence and a hint,
  in every format, and without a change to any file, ref, index or row.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one, two

  @storage
  Scenario: It is not clear what is meant, or it is not there
    Given plan "other"
    Then these are refused in every format, with one sentence and a hint:
      | command                                      | exit code | because                         |
      | plan rollback other {id of two} --yes        | 5         | it belongs to another plan      |
      | plan rollback auth nosuch --yes              | 3         | there is no such label          |
      | plan rollback auth 99 --yes                  | 3         | there is no such number         |
      | plan rollback auth latest~9 --yes            | 3         | the timeline is not that long   |
      | plan rollback auth {beginning of ids} --yes  | 4         | more than one id begins so      |
      | plan rollback auth 'two words' --yes         | 2         | nothing can be called that      |
      | plan rollback auth --yes                     | 2         | no checkpoint is named          |
      | plan rollback auth one two three --yes       | 2         | that is too much                |
      | plan rollback nosuch one --yes               | 3         | there is no such plan           |
      | plan rollback -p {beginning of plans} 1      | 4         | more than one plan begins so    |
      | plan checkpoint show auth nosuch             | 3         | there is no such label          |
      | plan checkpoint label auth two one           | 5         | the label is taken              |
      | plan undo                                    | 2         | no plan is named                |
      | plan undo auth -p auth                       | 2         | the plan is named twice         |
      | plan create auth                             | 5         | the plan exists already         |
      | plan nonsense                                | 2         | there is no such command        |
      | plan rollback auth one --nonsense            | 2         | there is no such option         |
    And no file, no ref, no index and no row has changed

  Scenario: What is suggested for a typo takes nothing away, whoever tries it
    Then these are refused with 2, and only some come with a suggestion:
      | command               | suggestion |
      | plan statu            | 'status'   |
      | plan checkpoint lis   | 'list'     |
      | plan remov            | none       |
      | plan rollbak          | none       |
      | plan undoo            | none       |
      | plan reddo            | none       |
      | plan aply             | none       |
      | plan cancle           | none       |
      | plan aborrt           | none       |
      | plan corect           | none       |
      | plan checkpoint delet | none       |
      | plan checkpoint prun  | none       |

  @storage
  Scenario: There is nothing to take back, or it is not confirmed
    Then these are refused in every format, with one sentence and a hint:
      | command                | exit code | because                 |
      | plan undo auth         | 1         | nothing was rolled back |
      | plan redo auth         | 1         | nothing was undone      |
      | plan rollback auth one | 6         | nobody said yes         |
    And no file, no ref, no index and no row has changed

  Scenario: Paths that cannot be restored
    Then these are refused in every format, with one sentence and a hint:
      | command                                             | exit code | because                     |
      | plan rollback auth one --yes --path nosuch          | 3         | it is neither there nor was |
      | plan rollback auth one --yes --path ../other        | 2         | it is not in the sandbox    |
      | plan rollback auth one --yes --path /etc/passwd     | 2         | it is not in the sandbox    |
      | plan rollback auth one --yes --path .git/config     | 2         | that is git's own           |
      | plan rollback auth one --yes --path src/../../x     | 2         | it is not in the sandbox    |
      | plan rollback auth one --yes --path ''              | 2         | it is empty                 |
    And no file, no ref, no index and no row has changed
    When I run "plan list --format xml"
    Then it exits with 2 and says "invalid value for '--format': 'xml' is not one of"
    When I run "plan rollback auth one --yes --path src/.git"
    Then it exits with 2 and says "'src/.git' is git's own"

  Scenario Outline: The plan's branch is gone and another is <where>
    Given the agent runs "git switch --quiet --detach"
    And the agent runs "git branch --quiet -D plan/auth"
    And the agent runs "git branch --quiet <other>"
    And I take stock of everything
    When I run "plan rollback auth one --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 5
    And no file, no ref, no index and no row has changed
    When I run "plan rollback auth one --yes"
    Then it exits with 5 and says "git branch -m <other>"
    When the agent runs "git branch -m <other> elsewhere"
    And I roll back to "one"
    Then the sandbox is exactly as it was at "one"

    Examples:
      | where            | other       |
      | below its name   | plan/auth/x |
      | above its name   | plan        |

  Scenario Outline: The sandbox <cannot be used>
    Given the sandbox <cannot be used>
    When I run "plan rollback auth one --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 7
    And no file, no ref, no index and no row has changed

    Examples:
      | cannot be used                             |
      | was deleted                                |
      | was replaced by an ordinary folder         |
      | was replaced by another worktree           |
      | was replaced by a clone                    |
      | was replaced by a link to a copy of itself |
      | was replaced by a copy of another sandbox  |

  @storage
  Scenario: Without its sandbox a plan can neither go on nor back
    Given I roll back to "one"
    And the sandbox was deleted
    Then these are refused in every format, with one sentence and a hint:
      | command                 | exit code | because              |
      | plan save auth          | 7         | the sandbox is gone  |
      | plan undo auth          | 7         | the sandbox is gone  |
      | plan diff -p auth one   | 7         | the sandbox is gone  |
    And no file, no ref, no index and no row has changed

  @storage
  Scenario: A copied repository does not act on the sandboxes of the original
    Given the user copies the repository to "a copy"
    When I run "plan rollback auth one --yes" in every format, in "a copy"
    Then every format says so in one sentence with a hint, and exits with 7
    And no file, no ref, no index and no row has changed
    When I run "plan save auth" in every format, in "a copy"
    Then every format says so in one sentence with a hint, and exits with 7
    And no file, no ref, no index and no row has changed

  @storage
  Scenario Outline: The plan is <state>
    Given I roll back to "one"
    And the plan is in phase "apply" and state "<state>"
    When I run "plan rollback auth one --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 5
    And no file, no ref, no index and no row has changed
    When I run "plan undo auth" in every format
    Then every format says so in one sentence with a hint, and exits with 5
    And no file, no ref, no index and no row has changed

    Examples:
      | state       |
      | applied     |
      | invalidated |

  Scenario Outline: A <work> is under way in a sandbox of the user's
    Given plan "mine" on a worktree of the user's, on branch "feature"
    And I save checkpoint "one"
    And the agent commits "ours\n", and branch "theirs" has "theirs\n" instead
    And the agent is in the middle of "<command>"
    When I run "plan rollback mine one --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 5
    And no file, no ref, no index and no row has changed

    Examples:
      | work        | command                      |
      | merge       | git merge theirs             |
      | rebase      | git rebase theirs            |
      | cherry-pick | git cherry-pick theirs       |
      | revert      | git revert --no-edit theirs  |
      | bisect      | git bisect start HEAD HEAD~1 |

  Scenario: The plan's branch is checked out in another worktree as well
    Given the agent runs "git switch --quiet --detach"
    And the user runs "git switch --quiet plan/auth"
    When I run "plan rollback auth one --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 5
    And no file, no ref, no index and no row has changed

  Scenario: Something that cannot be saved is in the way
    Given the agent deletes "work.txt"
    And the agent runs "mkfifo work.txt"
    When I run "plan rollback auth one --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 5

  Scenario: Not a git repository
    When I run "plan rollback auth one --yes" in every format, in "elsewhere"
    Then every format says so in one sentence with a hint, and exits with 1
    And no file, no ref, no index and no row has changed

  Scenario Outline: The database <cannot be used>
    Given the database <cannot be used>
    When I run "plan rollback auth one --yes" in every format
    Then every format says so in one sentence with a hint, and exits with 10
    And no file, no ref, no index and no row has changed

    @storage
    Examples:
      | cannot be used                           |
      | was made by a newer program              |
      | belongs to another program               |
      | belongs to another program with Alembic  |

    Examples: A file can be damaged by anybody
      | cannot be used                      |
      | is full of noise                    |
      | was cut in half                     |

  Scenario: Plan names that are hostile or absurd
    Given I take stock of everything
    Then these cannot be plan names:
      | name              | why                        |
      | ''                | empty                      |
      | ' '               | a blank                    |
      | 'a b'             | a blank in it              |
      | .                 | a folder                   |
      | ..                | a folder                   |
      | ../evil           | a path                     |
      | a/b               | a path                     |
      | /tmp/evil         | a path                     |
      | .hidden           | git refuses it             |
      | a..b              | git refuses it             |
      | x.lock            | git refuses it             |
      | x.                | git refuses it             |
      | a:b               | git refuses it             |
      | @{-1}             | git refuses it             |
      | 'a^b'             | git refuses it             |
      | 'line\nend'       | a line end                 |
      | 'bell\x07'        | a control character        |
      | naïve             | not for every file system  |
      | '$(touch evil)'   | a shell's idea of fun      |
      | '; rm -rf x'      | a shell's idea of fun      |
      | '*'               | a pattern                  |
      | -x                | an option                  |
      | --upload-pack=x   | an option                  |
      | '<script>'        | a page's idea of fun       |
      | 65 letters        | too long                   |
      | 9999 letters      | far too long               |
    And no file, no ref, no index and no row has changed
