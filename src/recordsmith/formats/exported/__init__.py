"""What `recordsmith export` stores with its files, so that making a dataset from them restores everything."""
