"""Names for the ids that travel through the program, so that they cannot be mixed up."""

from typing import NewType

PlanId = NewType("PlanId", str)
SandboxId = NewType("SandboxId", str)
CheckpointId = NewType("CheckpointId", str)
OperationId = NewType("OperationId", str)
DecisionId = NewType("DecisionId", str)
CorrectionId = NewType("CorrectionId", str)
RunId = NewType("RunId", str)
CommitId = NewType("CommitId", str)
TreeId = NewType("TreeId", str)
StepId = NewType("StepId", str)
MarkId = NewType("MarkId", str)
