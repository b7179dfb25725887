"""Reports, findings, facts and rules on a terminal."""
