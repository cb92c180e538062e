"""What all HTTP requests have in common: bodies, problems, context, metrics, health.

`connection` and `guard` refuse what is too large, too slow or from another site, `routes` calls the
operations, `requests` reads bodies and headers, `problems` turns errors into RFC 9457 problems, and
`context` is what an operation gets. The rules of the service are not here; each capability has its
own routes in its `http.py`.
"""
