Feature: Backtrail's own files are not believed
  What was written once is compared at each opening and put right; what is damaged beyond that is
  told in one sentence. No success is claimed that is none, and nothing makes a command wait.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one, two

  @unmeasured
  Scenario: Whatever file of its own is damaged in whatever way
    Given all of its own files as they are after some work
    When each of its files and directories is damaged in turn, and it is used
    Then every command ends with a documented code, and no success is claimed that is none

  Scenario Outline: What somebody wrote into the store is not followed: <content> in <file>
    Given "<file>" of the store says: <content>
    And the agent writes "new\n" to "secret/new.txt"
    When I run "plan rollback auth one --yes"
    Then it succeeds
    And it notes "not as Backtrail wrote it, and put right: <file> in the checkpoint store"
    And the sandbox is exactly as it was at "one"
    When I undo
    Then "secret/new.txt" holds "new\n"
    When I run "plan save auth"
    Then it says nothing of the store

    Examples:
      | file                    | content                    |
      | info/exclude            | *                          |
      | info/attributes         | * text eol=crlf            |
      | info/grafts             | nonsense                   |
      | info/sparse-checkout    | /src/                      |
      | objects/info/alternates | /nonexistent               |
      | config                  | [core]\n\tignorecase = true |
      | config.worktree         | [core]\n\tbare = nonsense  |
      | commondir               | ../../..                   |
      | HEAD                    | ref: refs/heads/elsewhere  |
      | shallow                 | nonsense                   |

  Scenario: A store whose id is lost is known by its rows
    Given "backtrail-store-id" of the store is gone, and so is its record
    When I run "plan status auth"
    Then it succeeds
    And it notes "put right: backtrail-store-id in the checkpoint store"
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"

  Scenario: A store whose id nobody knows any more
    Given "backtrail-store-id" of the store is gone, and so is its record
    And every row is gone that tells it
    When I run "plan status auth" in every format
    Then every format says so in one sentence with a hint, and exits with 10

  Scenario: A store of an earlier version has no record yet
    Given the record of the store is gone
    When I run "plan save auth"
    Then it says nothing of the store
    And the record of the store is there again

  Scenario Outline: An object that the user's repository holds whole: <damage> in the place of <object>
    Given <damage> is in the place of <object> in the store
    And the agent deletes "README.md"
    When I run "<command>"
    Then it succeeds
    And it notes "<words> brought in again from your repository"
    When I run "plan create other"
    Then it succeeds
    And it says nothing of the store
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    And what was damaged there is still to be had

    Examples:
      | damage        | object            | command                      | words                        |
      | an empty file | the base commit   | plan save auth               | damaged: it was set aside and |
      | an empty file | the base commit   | plan create another          | damaged: it was set aside and |
      | nothing       | the base commit   | plan save auth               | missing: it was              |
      | half a file   | the base's tree   | plan create another          | damaged: it was set aside and |
      | half a file   | README.md         | plan rollback auth one --yes | damaged: it was set aside and |

  Scenario: A sandbox is removed and restored although the store's base commit is damaged
    Given half a file is in the place of the base commit in the store
    When I run "plan remove auth --yes"
    Then it succeeds
    When I run "plan restore auth"
    Then it succeeds
    And the sandbox is exactly as it was at "two"
    And what was damaged there is still to be had

  Scenario: An object that nobody has any more stops what needs it, and nothing else
    Given plan "lost" whose base commit nobody has any more
    When I run "plan save lost" in every format
    Then every format says so in one sentence with a hint, and exits with 9
    When I run "plan save lost"
    Then it exits with 9 and says "of the checkpoint store is damaged or missing, and your repository does not have it"
    When I run "plan create other"
    Then it succeeds
    When I run "plan remove other --yes"
    Then it succeeds
    When I roll back to "one"
    Then the sandbox is exactly as it was at "one"
    Given the sandbox of plan "lost" is moved away
    When I run "plan remove lost --yes"
    Then it succeeds

  Scenario: A ref that has come to name something else does not keep its checkpoint from going
    Given one letter of the ref of checkpoint "one" is another one
    When I run "plan checkpoint label auth one --clear"
    And I run "plan checkpoint delete auth 2 --yes"
    Then it succeeds
    And rows and refs agree, and nothing is half done
    And these checkpoints can be brought back exactly: two

  @storage
  Scenario: Rows that are gone are not taken for plans that never were
    Given the database is not there yet
    When I run "plan list" in every format
    Then every format says so in one sentence with a hint, and exits with 10
    When I run "plan db upgrade"
    And I run "plan list --format json"
    Then its JSON has data.plans []

  Scenario: The schema's own text is damaged
    Given the text of the schema in the database is damaged
    When I run "plan save auth" in every format
    Then every format says so in one sentence with a hint, and exits with 10

  Scenario: Whose checkpoints are in a home elsewhere cannot be told
    Given plan "other" whose checkpoints are in a home elsewhere
    And the note there of whose it is was damaged
    When I run "plan list" in every format, with that home
    Then every format says so in one sentence with a hint, and exits with 10

  Scenario: What killed commands left is swept by the next one
    Given killed commands left their things everywhere in the store
    And "plan save auth" is killed together with a git that was at work
    When I run "plan save auth"
    Then it succeeds
    And nothing of that is left

  Scenario: An export that was killed leaves nothing of what it had begun
    Given "plan checkpoint export auth one {elsewhere}/out" is killed while git writes files
    And something of it is left
    When I run "plan list"
    Then nothing of it is left

  Scenario: Where an export was killed, nobody can look any more
    Given "plan checkpoint export auth one {elsewhere}/out" is killed while git writes files
    And a file is now in the place of the directory that it was written to
    When I run "plan list"
    Then it succeeds

  Scenario: The things of a command that is at work are not swept
    Given "plan save auth" waits for its git
    And I take stock of what it works on
    When I run "plan list"
    Then all that it works on is still there
    When that git goes on
    Then that command succeeds

  Scenario Outline: Looking needs no room and no leave to write: <place>
    Given the checkpoints are on a disk of their own
    And the agent writes "not saved\n" to "work.txt"
    When that disk is <place>
    Then looking at everything works, and tells of "work.txt"
    And "plan save auth" fails and says "<words>", with a hint
    And nothing is left elsewhere

    Examples:
      | place                                    | words                   |
      | read-only                                | Read-only file system   |
      | full                                     | No space left on device |
      | full after a command was killed at work  | No space left on device |

  Scenario Outline: A full disk is named wherever it is met: at <failpoint>
    Given the checkpoints are on a disk of their own
    And the agent writes "not saved\n" to "work.txt"
    When that disk becomes full at "<failpoint>" of "<command>"
    Then it fails and says "No space left on device", with a hint
    Given that disk has room again
    When I run "plan save auth" on that disk
    Then it succeeds
    And rows and refs agree, and nothing is half done

    Examples:
      | command                      | failpoint               |
      | plan save auth               | create.announced        |
      | plan save auth               | create.connected        |
      | plan rollback auth one --yes | rollback.files_restored |
