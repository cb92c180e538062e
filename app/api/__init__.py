"""HTTP: one router per resource. The only FastAPI; no rule of the service lives here."""
