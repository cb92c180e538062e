"""What pages show: queries whose answers are made for people. Nothing here knows HTML."""
