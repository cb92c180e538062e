"""Events of a stream, read while it arrives, whatever form its bytes have.

The forms: server-sent events or one JSON object a line (`lines`), one JSON array (`arrays`), the
binary frames of AWS (`frames`). Bytes may be cut anywhere; the events are the same.
"""
