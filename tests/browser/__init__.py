"""The pages in a real browser: `make test-pages`."""
