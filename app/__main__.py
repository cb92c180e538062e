"""`python -m app` is `turnkeep`."""

import sys

from app.start import main

if __name__ == "__main__":
    sys.exit(main())
