"""One module per failure class: TITLE, TARGETS, VARIANTS, and REFUSED where posts are refused."""
