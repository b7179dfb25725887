"""How far a loader has come, in this process and in the worker processes of PyTorch."""
