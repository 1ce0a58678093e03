#!/usr/bin/python3
"""Write the page as one file: style and scripts replace the names of their files. Its policy makes a browser run only these scripts, and connect only to the
page's origin. usage: make_page.py index.html [--terminal node_modules] >page.html"""

import base64
import hashlib
import os
import re
import sys

XTERM = ["@xterm/xterm/lib/xterm.js", "@xterm/addon-fit/lib/addon-fit.js"]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def hashed(kind, texts):
    return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in texts)


def terminal(modules):
    """xterm.js: its scripts without the names of missing files, its style, and its licence, which must be included."""
    scripts = [re.sub(r"\n?//# sourceMappingURL=\S*", "", read(os.path.join(modules, f))) for f in XTERM]
    assert not any("</script" in s for s in scripts)
    return scripts, read(os.path.join(modules, "@xterm/xterm/css/xterm.css")), read(os.path.join(modules, "@xterm/xterm/LICENSE"))


def main(index, modules):
    folder = os.path.dirname(index)
    page = read(index)
    extra, extra_style, license_ = terminal(modules) if modules else ([], "", "")
    names = re.findall(r'<script src="([^"]+)"></script>', page)
    scripts = extra + [read(os.path.join(folder, n)) for n in names]
    style = extra_style + read(os.path.join(folder, "page.css"))
    page = re.sub(r'(<script src="[^"]+"></script>\s*)+', lambda _: "".join(f"<script>{s}</script>\n" for s in scripts), page)
    page = page.replace('<link rel="stylesheet" href="page.css">', f"<style>{style}</style>")
    # xterm.js writes its own styles while it runs; the page itself needs only the style above.
    styles = "'unsafe-inline'" if modules else hashed("style", [style])
    policy = f"default-src 'none'; connect-src 'self'; img-src data:; style-src {styles}; script-src {hashed('script', scripts)}; base-uri 'none'; form-action 'none'"
    meta = f'<meta charset="utf-8">\n<meta http-equiv="content-security-policy" content="{policy}">'
    page = page.replace('<meta charset="utf-8">', meta, 1)
    sys.stdout.reconfigure(encoding="utf-8")  # whatever the locale is
    sys.stdout.write(page.replace("</body>", f"<!-- of xterm.js:\n{license_}-->\n</body>") if modules else page)


main(sys.argv[1], sys.argv[3] if sys.argv[2:3] == ["--terminal"] else None)
