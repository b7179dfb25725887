"""Repairs damaged TFRecord files: keeps undamaged records byte for byte, and lists what is lost."""

from recordsmith.repairing.repair_files import repair
from recordsmith.repairing.repair_result import FileRepair, Gap, Loss, RepairedHeader, RepairResult

__all__ = ["FileRepair", "Gap", "Loss", "RepairResult", "RepairedHeader", "repair"]
