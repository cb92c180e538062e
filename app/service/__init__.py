"""The deeds: one file each. A deed is a plain function of a store: load, think, save."""
