"""The migrations, against both databases."""
