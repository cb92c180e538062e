"""The wire formats: one file or folder per format, and what they share in `shared/`.

A format is a value, `CODEC`: how a posted request becomes turns (`parse`), how turns become
messages (`write`), how a stream becomes a response, how tools are defined, and a profile of what
its provider demands. `registry` finds the formats by the names of their files and has the tables of
all. `inputs` holds the input types of the providers' SDKs as data. Formats only describe: repairs
happen in `replay/`, in one pipeline for all. They do not import each other, but for families
(`chat`, `ai_sdk`) and `shared`.
"""
