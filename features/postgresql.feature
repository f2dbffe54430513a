@storage @postgresql
Feature: The rows on a PostgreSQL server
  With the rows on a server everything works as with a file; besides, a server can be away, say no
  or let somebody wait. Then a command says so and changes nothing, or leaves what the next one
  repairs. The other features that are marked @storage run on PostgreSQL as they stand.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one, two

  Scenario: A server that is away
    Given the server is stopped
    When I run "plan save auth" in every format, without a server
    Then every format says so in one sentence with a hint, and exits with 10
    When I run "plan db status"
    Then it exits with 10 and says "cannot be reached"
    Given the server runs again
    Then no file, no ref, no index and no row has changed since the server was stopped
    When I run "plan save auth"
    Then it succeeds

  Scenario Outline: The server goes away in the middle: at <failpoint>
    Given work that is in no checkpoint yet
    When "<command>" is run, and the server is stopped at "<failpoint>"
    Then it exits with 10 and says "cannot be reached"
    Given the server runs again
    Then <what> is still <state>
    When I run "plan save auth"
    Then it succeeds
    And rows and refs agree, and nothing is half done
    And the sandbox is exactly as it was at "<result>"
    And these checkpoints can be brought back exactly: one, two

    Examples:
      | command                      | failpoint               | what         | state     | result  |
      | plan save auth               | create.announced        | a checkpoint | creating  | unsaved |
      | plan save auth               | create.connected        | a checkpoint | creating  | unsaved |
      | plan rollback auth one --yes | create.objects_written  | a rollback   | open      | unsaved |
      | plan rollback auth one --yes | rollback.files_restored | a rollback   | restoring | one     |
      | plan rollback auth one --yes | rollback.result_pinned  | a rollback   | restoring | one     |

  Scenario Outline: A connection on which nothing more comes: at <failpoint>
    Given work that is in no checkpoint yet
    And a network that can fall silent, of which 2 seconds of silence are borne
    When "<command>" is run over it, and falls silent at "<failpoint>"
    Then it ends within 20 seconds with 10 and says "cannot be reached"
    Given the network works again
    Then <what> is still <state>
    When I run "plan save auth"
    Then it succeeds
    And rows and refs agree, and nothing is half done
    And the sandbox is exactly as it was at "<result>"
    And these checkpoints can be brought back exactly: one, two

    Examples:
      | command                      | failpoint               | what         | state     | result  |
      | plan save auth               | create.connected        | a checkpoint | creating  | unsaved |
      | plan rollback auth one --yes | rollback.files_restored | a rollback   | restoring | one     |

  Scenario Outline: A network that is silent from the beginning: <command>
    Given a network that can fall silent, of which 2 seconds of silence are borne
    And the network has fallen silent
    When "<command>" is run over it
    Then it ends within 20 seconds with 10 and says "cannot be reached"

    Examples:
      | command         |
      | plan save auth  |
      | plan db upgrade |

  Scenario: A server that falls silent while it makes the tables
    Given a network that can fall silent, of which 2 seconds of silence are borne
    And a database without tables on that network, which is locked by somebody for long
    When "plan db upgrade" is run over it
    Then it ends within 20 seconds with 10 and says "did not answer within the time"

  Scenario: A server that is stopped as a whole for a while
    Given a URL that bears 2 seconds of silence
    When "plan save auth" is run over it, and all processes of the server are stopped at "create.connected"
    Then it ends within 20 seconds with 10 and says "cannot be reached"
    When I run "plan save auth"
    Then it succeeds
    And rows and refs agree, and nothing is half done

  Scenario Outline: A server that was restarted in the meantime is not noticed: at <failpoint>
    When "<command>" is run, and the server is restarted at "<failpoint>"
    Then it succeeds
    And rows and refs agree, and nothing is half done

    Examples:
      | command                      | failpoint               |
      | plan save auth               | create.announced        |
      | plan rollback auth one --yes | rollback.files_restored |

  Scenario Outline: A server that says no: <reason>
    Given a user of the server for whom <reason>
    When I run "plan save auth" in every format, as that user
    Then every format says so in one sentence with a hint, and exits with <code>
    And the password is nowhere in what it says
    And no file, no ref, no index and no row has changed

    Examples:
      | reason                               | code |
      | the password is wrong                | 10   |
      | no password is given                 | 10   |
      | the server has no such user          | 10   |
      | the server has no such database      | 10   |
      | there is nothing to be read          | 10   |
      | there is nothing to be written       | 10   |
      | statements take too long             | 10   |
      | all connections are taken            | 8    |
      | somebody else writes                 | 8    |
      | somebody else rebuilds a table       | 8    |

  Scenario: A user who may not make tables
    Given a user of the server who may not make tables
    When I run "plan list" in every format, as that user
    Then every format says so in one sentence with a hint, and exits with 10

  Scenario: A database that cannot hold letters of all scripts
    Given a user of the server who has a database with the encoding LATIN1
    When I run "plan list" in every format, as that user
    Then every format says so in one sentence with a hint, and exits with 10

  Scenario: The password goes nowhere
    Given a user of the server who owns a database and has a password
    When that user creates a plan, saves, rolls back, looks at everything and makes mistakes
    Then the password is nowhere: not in what was said, not in a file, not in a row

  Scenario: A server that isolates transactions in its own way
    Given the server isolates transactions as "serializable" unless told otherwise
    When 8 processes each create a plan and save once, all at once
    Then none of them complained
    And rows and refs agree, and nothing is half done

  Scenario: No transaction is open while git works
    When "plan rollback auth one --yes" is run, and at each failpoint the server is asked for open transactions
    Then there was never one

  Scenario: A process that is stopped in the middle of a transaction does not hold up others
    Given a process that was stopped while it wrote rows
    When I run "plan save auth"
    Then it succeeds
    When that process goes on
    Then it ends with 10, and has written nothing
    And rows and refs agree, and nothing is half done

  Scenario: A limit for idle transactions that the user has set is respected
    Given a process that was stopped while it wrote rows, under the settings idle_in_transaction_session_timeout=300ms
    When I run "plan save auth" under the settings lock_timeout=3s
    Then it succeeds

  Scenario: Ids are ordered by their letters, whatever language the database sorts by
    Then every column that holds ids has the collation "C"
