Feature: A merge that is under way goes and comes back
  "The agent is stuck in a conflict, take me back" is when people reach for rollback. What git has
  noted of a merge, rebase, cherry-pick, revert or bisect is saved with everything else, so that a
  rollback leads out of it and into it, and it goes on as if nothing had been.

  Scenario Outline: <what>
    Given a repository with plan "auth"
    And branches that do not go together
    And a twin of the sandbox that is left alone
    And I save checkpoint "before"
    And the agent is stuck in <what>
    And I remember the sandbox as "stuck at first"
    When I roll back to "before"
    Then the sandbox is exactly as it was at "before"
    And nothing is under way in the sandbox
    When I undo
    Then the sandbox is exactly as it was at "stuck at first"
    When I save checkpoint "stuck"
    And the agent gives it up
    And I roll back to "stuck"
    Then the sandbox is exactly as it was at "stuck"
    When the agent destroys all that git knows of it
    And I roll back to "stuck"
    Then the sandbox is exactly as it was at "stuck"
    When the agent goes on with it to its end
    And I remember the sandbox as "done"
    And I roll back to "stuck"
    Then the sandbox is exactly as it was at "stuck"
    When I undo
    Then the sandbox is exactly as it was at "done"
    When I redo
    And the agent goes on with it to its end
    Then all is as in the twin, where it was begun and ended without any of this
    And rows and refs agree, and nothing is half done

    Examples:
      | what                                            |
      | a merge with a conflict                         |
      | a merge of three branches that is not committed |
      | a merge of a tag, with a message of its own     |
      | a merge with work set aside                     |
      | a merge that is squashed                        |
      | an interactive rebase with a conflict           |
      | an interactive rebase that stopped at an edit   |
      | a rebase with work set aside                    |
      | a rebase that makes merges anew                 |
      | a rebase by patches                             |
      | patches that do not apply                       |
      | a series of cherry-picks                        |
      | a series of reverts                             |
      | a bisect                                        |
