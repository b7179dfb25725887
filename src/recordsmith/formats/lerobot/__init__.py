"""Episodes of robots as LeRobot stores them: Parquet and MP4 files."""
