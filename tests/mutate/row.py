"""A row of the table: one small change, and who should see it."""

from typing import NamedTuple


class Row(NamedTuple):
    name: str
    file: str
    find: str  # stands in the file exactly once
    replace: str
    suites: tuple  # as suites.py knows them, the likeliest first
    reason: str = ""  # why it survives, where it must


def row(name, file, find, replace, suites, reason=""):
    return Row(name, file, find, replace, tuple(suites.split()), reason)
