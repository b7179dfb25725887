"""The file formats that datasets are made from and exported to: one folder each, with its reader and its writer."""
