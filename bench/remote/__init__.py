"""Loading from an object store: a server and a slow network on loopback, and the loaders that are compared."""
