"""HDF5 files: the datasets in them are arrays, and groups named train and test are splits."""
