"""The shapes of requests and answers, one file per resource.

Shapes of answers are what is answered: every response of every test is read with the model of its
route, and a member that no model names fails the test (`tests/shapes.py`). Nothing is validated
while the service runs, because answers are written as bytes.
"""
