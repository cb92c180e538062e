"""JSON Schema between formats: what is rewritten refuses no input that was accepted before."""
