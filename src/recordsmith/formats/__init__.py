"""The file formats that datasets are made from and exported to; each folder has the reader and the writer of one."""
