"""The OpenAPI page, made once: tests are generated from it."""

from app.main import create_app
from app.settings import Settings

PAGE = create_app(Settings(database_url="sqlite://")).openapi()
