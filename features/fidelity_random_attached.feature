@unmeasured
Feature: Whatever is in a checkout of the user's comes back
  As in a sandbox of the plan's own, except that the branch is the user's and stays where it is.

  Scenario: Random trees in a checkout of the user's
    Then 80 random trees come back exactly, in a sandbox of the user's own
