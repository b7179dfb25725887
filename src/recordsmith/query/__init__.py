"""The language of `--where`, searching rows with it, and the overview of `recordsmith show`."""
