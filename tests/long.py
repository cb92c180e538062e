"""Whether there is time to try everything (`make test-long`), or some of it each time."""

import os

IS_LONG = os.environ.get("TURNKEEP_LAWS") == "long"
