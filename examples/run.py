"""`make example`: the service and the fake provider on free ports, and the agent between them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from examples.fake_provider import fake_provider


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """The address of a new service, whose data is in the folder."""
    log = folder / "log"
    with log.open("w") as out:
        serve = [sys.executable, "-m", "app", "serve", "--port", "0"]
        process = subprocess.Popen(serve, cwd=folder, stdout=out, stderr=subprocess.STDOUT)
    try:
        while "Try this" not in log.read_text():
            if process.poll() is not None:
                sys.exit(f"the service did not start:\n{log.read_text()}")
            time.sleep(0.1)
        yield log.read_text().split()[3]
    finally:
        process.terminate()
        process.wait()


def agent(turnkeep: str, provider: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run the agent with these two addresses; `options` are those of `subprocess.run`."""
    environment = {
        **os.environ,
        "NO_PROXY": "127.0.0.1",
        "TURNKEEP": turnkeep,
        "OPENAI_BASE_URL": f"{provider}/v1",
        "OPENAI_API_KEY": "none",
        "ANTHROPIC_BASE_URL": provider,
        "ANTHROPIC_API_KEY": "none",
    }
    program = Path(__file__).with_name("agent_loop.py")
    command = [sys.executable, str(program)]
    return subprocess.run(command, env=environment, text=True, check=False, **options)


def main() -> int:
    with TemporaryDirectory() as name, service(Path(name)) as turnkeep, fake_provider() as provider:
        return agent(turnkeep, provider.url).returncode


if __name__ == "__main__":
    sys.exit(main())
