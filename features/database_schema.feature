Feature: Database schema
  The tables that the migrations make are exactly the tables that the program works with.

  Scenario: The migrations are complete
    Given a database made by the migrations
    Then Alembic finds nothing that a further migration would have to do

  Scenario: Columns, keys, constraints and indexes are the same by name and by content
    Given a database made by the migrations
    And a database made from the row classes
    Then both have the same tables, each with the same columns, keys, constraints and indexes
