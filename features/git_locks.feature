Feature: Locks of the user's own git
  An agent's git, an editor's or the user's own locks for a moment what it is about to change. A
  command that needs the same waits for that as it waits for another command of ours.

  Background:
    Given a repository with plan "auth"
    And the agent works and saves: one
    And the agent writes "two\n" to "f"

  Scenario Outline: It is waited for: <command>, <lock>
    Given another git holds "<lock>" for a moment
    When I run "<command>"
    Then it succeeds
    And it had waited for that git

    Examples:
      | command                      | lock                         |
      | plan rollback auth one --yes | worktrees/auth/index.lock    |
      | plan rollback auth one --yes | worktrees/auth/HEAD.lock     |
      | plan rollback auth one --yes | refs/heads/plan/auth.lock    |
      | plan remove auth --yes       | packed-refs.lock             |
      | plan apply auth --yes        | index.lock                   |
      | plan apply auth --yes        | refs/heads/main.lock         |

  Scenario Outline: Who will not wait long is told which lock it is: <command>, <lock>
    Given another git holds "<lock>"
    When I run "<command> --wait 0.1"
    Then it exits with 8 and says "<file> exists"
    And it notes "if none is running, remove"
    And "f" holds "two\n"
    When that other git ends
    And I run "<command>"
    Then it succeeds

    Examples:
      | command                      | lock                         | file             |
      | plan rollback auth one --yes | worktrees/auth/index.lock    | index.lock       |
      | plan rollback auth one --yes | refs/heads/plan/auth.lock    | auth.lock        |
      | plan remove auth --yes       | packed-refs.lock             | packed-refs.lock |
      | plan apply auth --yes        | index.lock                   | index.lock       |
      | plan apply auth --yes        | refs/heads/main.lock         | main.lock        |
