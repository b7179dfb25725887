"""Videos, cut into clips of frames."""
