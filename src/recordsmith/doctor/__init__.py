"""Why training does not improve: `rs.lint` reads the code, `rs.diagnose` looks at the batches."""
