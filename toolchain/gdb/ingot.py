"""Printers for gdb: the arena by its regions, a session by its counts and latest tokens. `make gdb` loads this file; so does
`source toolchain/gdb/ingot.py`. Commands: `ingot-arena` and `ingot-session` print the arena and the session of the
running image."""

import gdb
import gdb.printing

LATEST = 8  # number of tokens that are shown of a session


def size_text(count):
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} GiB"


class ArenaPrinter:
    """struct arena of runtime/base/arena.h."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return f"arena at {int(self.value['base']):#x}, {size_text(int(self.value['reserved']))} of {size_text(int(self.value['bytes']))} reserved"

    def children(self):
        regions = self.value["regions"]
        names = gdb.lookup_type("enum arena_region_name").fields()
        for name in names[:-1]:
            region = regions[int(name.enumval)]
            yield name.name.removeprefix("ARENA_").lower(), (
                f"at {int(region['base']):#x}, {size_text(int(region['used']))} of {size_text(int(region['bytes']))}, "
                f"at most {size_text(int(region['high_water']))}")


class SessionPrinter:
    """struct session of runtime/session/session.h."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        value = self.value
        return (f"session: {int(value['n_cached'])} tokens cached of {int(value['n_ids'])}, {int(value['n_ahead'])} guesses, "
                f"context {int(value['context'])}")

    def children(self):
        value = self.value
        count = int(value["n_ids"])
        latest = [int(value["ids"][i]) for i in range(max(0, count - LATEST), count)]
        yield "latest ids", " ".join(map(str, latest)) or "none"
        yield "logits", "known" if int(value["logits"]) != 0 else "not known"
        yield "rows hashed", str(int(value["hash"]["rows"]))
        yield "problem", value["error_message"].string() or "none"


class Show(gdb.Command):
    """Print a part of the running image."""

    def __init__(self, name, path):
        super().__init__(name, gdb.COMMAND_DATA)
        self.path = path

    def invoke(self, argument, from_tty):
        if int(gdb.parse_and_eval("'boot/main.c'::state.app")) == 0:
            print("the application has not been opened yet: `hbreak chat_loop`, `continue`")
            return
        gdb.execute(f"print 'boot/main.c'::state.app->{self.path}")


printers = gdb.printing.RegexpCollectionPrettyPrinter("ingot")
printers.add_printer("arena", "^arena$", ArenaPrinter)
printers.add_printer("session", "^session$", SessionPrinter)
gdb.printing.register_pretty_printer(None, printers, replace=True)
gdb.execute("set print pretty on")
gdb.execute("set max-value-size unlimited")  # the image's state is one struct
Show("ingot-arena", "target.model.arena")
Show("ingot-session", "target.session")
