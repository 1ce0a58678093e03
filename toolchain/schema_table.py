#!/usr/bin/env python3
"""Writes into docs/GRAMMARS.md which files of the JSON-Schema-Test-Suite have invalid values that a grammar allows, and the sum of all files.

usage: schema_table.py [BUILD]

BUILD/tests/unit/grammar/schema_suite.t must exist (make BUILD/tests/unit/grammar/schema_suite.t), and the suite (make setup-tests)."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build"))
PAGE = os.path.join(ROOT, "docs/GRAMMARS.md")

table = subprocess.run([os.path.join(BUILD, "tests/unit/grammar/schema_suite.t"), "--table"], env={**os.environ, "INGOT_BUILD": BUILD},
                       capture_output=True, text=True, check=True).stdout
if not table.startswith("| file"):
    sys.exit(table.strip())
lines = table.splitlines(keepends=True)
table = "".join(lines[:2] + [line for line in lines[2:] if line.startswith("| all") or not line.endswith("| 0 |\n")])
with open(PAGE, encoding="utf-8") as f:
    page = f.read()
page = re.sub(r"(<!-- schema_table.py -->\n).*?(<!-- end -->)", lambda m: m[1] + table + m[2], page, flags=re.S)
with open(PAGE, "w", encoding="utf-8") as f:
    f.write(page)
