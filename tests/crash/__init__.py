"""What is promised of crashes, retries and writers, tried on real servers.

`python -m tests.crash.run` kills servers, `tests.crash.retries` sends everything several times,
`tests.crash.appends` lets many writers race. `checker` says what is wrong with what is stored.
"""
