"""What several wires share: reading what was posted, gathering what was streamed."""
