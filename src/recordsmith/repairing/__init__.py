"""Mending damaged TFRecord files: what is sound is kept byte for byte, and what is lost is listed."""

from recordsmith.repairing.repair_files import repair
from recordsmith.repairing.repair_result import FileRepair, Gap, Loss, Mend, RepairResult

__all__ = ["FileRepair", "Gap", "Loss", "Mend", "RepairResult", "repair"]
