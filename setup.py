"""What pyproject.toml cannot say: where the packages are, and what they are called.

A wheel installs the folder `app/` as the package `turnkeep`, next to anybody's own `app`, and the
folder `alembic/` as `turnkeep.migrations`, because a library is called alembic. In a checkout
(`pip install -e`) the code has one name, `app`, for the tests and for the command alike.
"""

from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

FOLDERS = ["", *(f".{folder}" for folder in find_packages("app"))]


class Build(build_py):
    """Alembic runs migrations as files and not as parts of a package, so they name the package."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for file in Path(self.build_lib, "turnkeep", "migrations").rglob("*.py"):
            file.write_text(
                file.read_text("utf-8").replace("\nfrom app.", "\nfrom turnkeep."), "utf-8"
            )


class Editable(editable_wheel):
    def finalize_options(self) -> None:
        self.distribution.packages = [f"app{folder}" for folder in FOLDERS]
        self.distribution.package_dir = {}
        self.distribution.entry_points = {"console_scripts": ["turnkeep = app.start:main"]}
        super().finalize_options()
        # It was made for a wheel, with the command of one.
        self.dist_info_dir = None


setup(
    packages=[
        *(f"turnkeep{folder}" for folder in FOLDERS),
        "turnkeep.migrations",
        "turnkeep.migrations.versions",
    ],
    package_dir={"turnkeep": "app", "turnkeep.migrations": "alembic"},
    cmdclass={"build_py": Build, "editable_wheel": Editable},
)
