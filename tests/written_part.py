"""Parts of documents that a command writes between two comments: tables and transcripts."""

import datetime
import os
import re


def taken():
    """The date and the machine, as text."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    return f"(Taken on {datetime.date.today()} on {found.group(1) if found else os.uname().machine}, {os.cpu_count()} cores.)\n"


def put(path, name, command, text):
    """Replace the text in path between "<!-- NAME: written by COMMAND -->" and "<!-- NAME ends -->", and add the day and the machine. Returns
    an error message, or None."""
    begin, end = f"<!-- {name}: written by {command} -->\n", f"<!-- {name} ends -->"
    with open(path, encoding="utf-8") as file:
        all_of_it = file.read()
    if all_of_it.count(begin) != 1 or all_of_it.count(end) != 1:
        return f"{path} needs one line {begin.strip()} and one {end}"
    before, rest = all_of_it.split(begin)
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + begin + text + "\n" + taken() + end + rest.split(end)[1])
    return None
