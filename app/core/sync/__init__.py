"""What of a posted list of messages is stored already."""
