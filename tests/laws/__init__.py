"""The nine laws as property tests over random histories."""
