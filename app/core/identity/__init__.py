"""The names that things keep: turns, calls, tools."""
