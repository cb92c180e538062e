"""JSON text in and out: nothing that was written changes, and nothing is read unnoticed."""
