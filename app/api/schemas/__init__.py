"""The shapes of requests and responses, one file per resource.

Shapes of responses are what is sent: every response of every test is read with the model of its
route, and a member that no model names fails the test (`tests/shapes.py`). Nothing is validated
while the service runs, because responses are written as bytes.
"""
