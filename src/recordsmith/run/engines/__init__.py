"""Who carries out a run: the threads and processes of this machine, a Ray cluster, or the jobs of a job array."""
