"""The tests; a package, so that they can share their judges and servers by name."""
