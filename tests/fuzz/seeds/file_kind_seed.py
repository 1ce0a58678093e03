#!/usr/bin/env python3
"""Write seeds for file_kind_fuzz: a file of each kind that may be confused with a model.
usage: file_kind_seed.py OUT"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from hostile import FOREIGN, good

for number, (_, raw, _) in enumerate(FOREIGN):
    with open(f"{sys.argv[1]}-{number}", "wb") as out:
        out.write(raw[:600])
with open(sys.argv[1], "wb") as out:
    out.write(b"".join(good().parts())[:600])
