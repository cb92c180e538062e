"""Tool definitions and tool choice between formats."""
