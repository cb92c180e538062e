"""Rows that somebody changed behind the service's back: what is read around them, what is found."""
