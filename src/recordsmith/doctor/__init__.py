"""The doctor: why training does not improve. `lint` reads the code, `diagnose` looks at what arrives."""
