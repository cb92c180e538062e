"""From stored turns to a history that one format accepts."""
