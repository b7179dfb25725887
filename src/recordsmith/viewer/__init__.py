"""The viewer: a local web server that shows the records of datasets in the browser, read-only."""
