"""PlanService: making plans with their sandboxes, listing them, and forking."""
