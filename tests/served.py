"""A server of the demo model on a free port, for tests of its APIs; and the Python packages that `make setup-tests` puts into build/clients."""

import atexit
import glob
import http.client
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys

from machine import BUILD, HOST, ROOT

DEMO = os.path.join(ROOT, "models/demo-q8_0.ingot")


class Served:
    def __init__(self, *options, model=DEMO):
        self.process = subprocess.Popen([HOST, "serve", model, "--port", "0", "-q", *options], stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        found = re.search(r"http://127.0.0.1:(\d+)", self.process.stdout.readline())
        self.there = found is not None
        self.port = int(found.group(1)) if found else 0
        self.url = f"http://127.0.0.1:{self.port}"

    def answer(self, path, body=None, method=None, headers=None):
        """Status, fields and text."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        c.request(method or ("POST" if data is not None else "GET"), path, data, headers or {})
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, {k.lower(): v for k, v in r.getheaders()}, text

    def ask(self, path, body=None, method=None, headers=None):
        """(status, answer), in which the answer is parsed JSON or a text"""
        status, fields, text = self.answer(path, body, method, headers)
        return status, json.loads(text) if fields.get("content-type", "") == "application/json" and text else text

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed"


def packages(name):
    """True if a Python package is in build/clients or installed."""
    for folder in glob.glob(os.path.join(BUILD, "clients/python/lib/python3*/site-packages")):
        if folder not in sys.path:
            sys.path.append(folder)
    return importlib.util.find_spec(name) is not None
