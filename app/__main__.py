"""`python -m app` is `turnkeep`."""

import sys

from .start import main

if __name__ == "__main__":
    sys.exit(main())
