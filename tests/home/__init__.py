"""The tenth law: what a provider's own SDK may send comes back to that provider as it was.

shapes.py         the input types of all SDKs in one form, for the files and for the instances
python_types.py   reads TypedDicts and pydantic models
generate.py       writes `app/formats/inputs/*.json`
"""
