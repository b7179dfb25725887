"""MATLAB's `.mat` files, through scipy, or h5py for version 7.3."""
