"""What pyproject.toml cannot say: the folder `alembic/` is the package `app.migrations`.

In the repository it stands where people look for migrations; installed it must not stand there,
because the library has the same name.
"""

from setuptools import find_namespace_packages, setup

setup(
    packages=[
        *find_namespace_packages(include=["app", "app.*"], exclude=["*__pycache__"]),
        "app.migrations",
        "app.migrations.versions",
    ],
    package_dir={"app.migrations": "alembic"},
)
