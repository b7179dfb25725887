"""The programs here are read by the doctor's tests, not collected."""

collect_ignore_glob = ["broken/*", "healthy/*", "torch_questions/*"]
