"""A history rendered for one provider: always valid, always the same bytes.

`http` reads the options, `queries` looks for a kept render and loads what is new, `pipeline` is the
pure way from turns to segments: pairing (`ledger.pairing`), `window`, `blocks` and `results`,
`messages`, `builder`, `segments`. `kept` is the cache. Every repair is named (`model.repairs`).

Segments never change once closed, so a longer history extends the render of the shorter one.
"""
