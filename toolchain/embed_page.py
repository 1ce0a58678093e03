#!/usr/bin/python3
"""A page as C: its bytes, and the policy that lets a browser run its own script alone. usage: embed_page.py PAGE.html"""

import base64
import hashlib
import re
import sys

with open(sys.argv[1], "rb") as f:
    page = f.read()
scripts = re.findall(rb"<script>(.*?)</script>", page, re.S)
hashes = " ".join("'sha256-" + base64.b64encode(hashlib.sha256(s).digest()).decode() + "'" for s in scripts)
print("static const unsigned char page[] = {")
for at in range(0, len(page), 24):
    print("    " + ", ".join(str(b) for b in page[at:at + 24]) + ",")
print("};")
print("static const char policy[] = \"default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; \"")
print(f"                             \"script-src {hashes}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\";")
