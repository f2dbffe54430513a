Feature: A script that is killed again and again
  A script of 20 steps is killed with SIGKILL at random moments, now together with its command and
  now without it, and run again each time until it comes to its end. Each step makes a file of what
  the one before it made. `nox -s chaos` kills 60 times and more.

  @unmeasured
  Scenario: The result is that of an undisturbed run, and nothing that was done is done again
    Given a repository with plan "auth"
    When a script of 20 steps is killed at random moments, and run again until it is through
    Then every time the sandbox held what the commands make when nobody disturbs them
    And every step was completed exactly once, and no command ran again after that
    And no command ran more often than its step was started
    And rows and refs agree, and nothing is half done
