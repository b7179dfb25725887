"""An object store and a slow network to it, on loopback."""
