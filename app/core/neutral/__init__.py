"""The neutral form, in which turns are stored, shown and exported."""
