"""What `make bench` runs: numbers, never assertions."""
