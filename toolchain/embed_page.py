#!/usr/bin/python3
"""Write a page from make_page.py as C: its bytes, and its policy, which is also sent as a header. usage: embed_page.py PAGE.html"""

import re
import sys

with open(sys.argv[1], "rb") as f:
    page = f.read()
policy = re.search(rb'content-security-policy" content="([^"]*)"', page).group(1).decode()
print("static const unsigned char page[] = {")
for at in range(0, len(page), 24):
    print("    " + ", ".join(str(b) for b in page[at:at + 24]) + ",")
print("};")
print("static const char policy[] =")
for part in policy.split("; ") + ["frame-ancestors 'none'"]:
    print(f'    "{part}; "')
print("    ;")
