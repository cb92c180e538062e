"""The seam between service and codecs, and what several formats have in common on the wire."""
