"""What conversations are found by."""
