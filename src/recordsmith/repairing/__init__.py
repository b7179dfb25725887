"""`rs.repair`: damaged TFRecord files; undamaged records are kept byte for byte, and lost ones are listed."""

from recordsmith.repairing.repair_files import repair
from recordsmith.repairing.repair_result import FileRepair, Gap, Loss, RepairedHeader, RepairResult, lost_text

__all__ = ["FileRepair", "Gap", "Loss", "RepairResult", "RepairedHeader", "lost_text", "repair"]
