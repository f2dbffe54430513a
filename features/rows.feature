@storage
Feature: Rows hold the whole value
  Whatever a value says comes back as it was said, from another transaction. A field that was
  forgotten on its way into the database or out of it, and a column that nobody fills, are found
  here.

  Scenario Outline: Every table gives back what it was given: values with <what>
    When values with every optional field empty are stored in every table
    And values with every field set are stored in every table
    Then values with <what> come back equal in another transaction
    And their rows have <columns>

    Examples:
      | what                       | columns                                      |
      | every field set            | no column without a value                    |
      | every optional field empty | no value in a column that may be without one |

  Scenario: What is read of a checkpoint in short is what it says in full
    When values with every optional field empty are stored in every table
    And values with every field set are stored in every table
    Then the timeline and retention are told of each checkpoint what it says itself
