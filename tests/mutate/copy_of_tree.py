"""A copy of the working tree to change and build in. Made anew it takes only the files that differ,
so that make builds only those; a line that a killed run left changed is such a file."""

import filecmp
import os
import shutil
import subprocess


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def files_of(root):
    """Tracked files, and those that git neither tracks nor ignores."""
    out = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"],
                         check=True, capture_output=True, text=True).stdout
    return {name for name in out.split("\0") if name and os.path.isfile(os.path.join(root, name))}


def own_files(tree):
    """For the copy, without what was built there."""
    for folder, folders, names in os.walk(tree):
        if folder == tree and "build" in folders:
            folders.remove("build")
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), tree)


def copy(source, target):
    if os.path.exists(target) and filecmp.cmp(source, target, shallow=False):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(source, target)  # with the time of now: make sees it
    shutil.copymode(source, target)


def make(root, tree, newlib):
    """The copy of `root` at `tree`, with newlib as it is built there; returns `tree`."""
    files = files_of(root)
    os.makedirs(tree, exist_ok=True)
    for name in set(own_files(tree)) - files:
        os.remove(os.path.join(tree, name))
    for name in files:
        copy(os.path.join(root, name), os.path.join(tree, name))
    if os.path.isdir(newlib) and not os.path.isdir(os.path.join(tree, "build/newlib")):
        shutil.copytree(newlib, os.path.join(tree, "build/newlib"))
    return tree


def clone(tree, other):
    """The same, built, at `other`: times are kept, so that nothing is built again."""
    shutil.rmtree(other, ignore_errors=True)
    subprocess.run(["cp", "-a", tree, other], check=True)
    return other
