"""What clients are told of errors whose texts were not written for them: no paths."""

from __future__ import annotations

import re

_SEGMENTS = r"""(?:[^\s'"()\[\]{}<>,;|/\\]*[/\\])*"""
# "/home/me/export.py", in quotes with spaces: all up to the last part.
_QUOTED = re.compile(r"""(?<!\w)(['"])(?:[A-Za-z]:)?[^'"\n]*[/\\](?=[^'"/\\\n]*\1)""")
# /home/me/, C:\Users\me\, ./here/, ~/here/. Not the slash of a quotient, as in s0//2.
_ABSOLUTE = re.compile(r"""(?<![\w/)\]])(?:[A-Za-z]:[/\\]|~?/|\.{1,2}/)""" + _SEGMENTS)
# models/export.py, by the ending of the name.
_RELATIVE = re.compile(r"(?<![\w/])(?:[\w.-]+[/\\])+(?=[\w-]+\.[A-Za-z]\w*\b)")


def without_paths(text: object, *folders: object) -> str:
    """The text with the last part of each path only. `folders`: the server's own, of which nothing
    is left though there are spaces in them."""
    plain = str(text)
    for folder in sorted(map(str, folders), key=len, reverse=True):
        if folder not in ("", ".", "/"):
            plain = plain.replace(f"{folder.rstrip('/')}/", "")
    plain = _QUOTED.sub(r"\1", plain)
    return _RELATIVE.sub("", _ABSOLUTE.sub("", plain))
