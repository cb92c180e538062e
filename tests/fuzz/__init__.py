"""A fuzzer that knows what bodies look like; `make fuzz` runs it for long."""
