"""DecisionService: recording the choices of a plan and looking at them."""
