"""Pages for people, made by templates. They only read; what they show was said by anybody."""
