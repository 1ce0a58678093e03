"""The results, a line of JSON each, so that a run that was stopped goes on where it was."""

import hashlib
import json
import os


def digest(texts):
    total = hashlib.sha256()
    for text in texts:
        total.update(text.encode() + b"\0")
    return total.hexdigest()[:16]


class Results:
    def __init__(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.path = path
        self.by_key = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f:
                    if line.endswith("\n"):  # a run that was killed leaves half of one
                        result = json.loads(line)
                        self.by_key[result["key"]] = result

    def get(self, key):
        return self.by_key.get(key)

    def put(self, key, **result):
        result["key"] = key
        self.by_key[key] = result
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(json.dumps(result) + "\n")

    def forget(self, names):
        """Results of these rows, old ones too."""
        self.by_key = {key: r for key, r in self.by_key.items() if r["name"] not in names}
        with open(self.path, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(result) + "\n" for result in self.by_key.values())
