#!/usr/bin/python3
"""Adapters (LoRA): logits are compared with llama.cpp's; every machine gives the same hash, streamed and in chunks of any size; adapters are
exchanged in a conversation; each invalid adapter gives one error message."""

import array
import json
import os
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from talk import Console
from machine import ARM64, ASSETS, HOST, RISCV64, RISCV64_WIDE, WORK, Reply, Tap, card_arguments, make_card, pack, run

ARCH = os.path.join(ASSETS, "arch")
FOLDER = os.path.join(WORK, "adapters-models")
NMSE = 1e-8
BASES = ("llama_gqa", "qwen35_gqa")
NAMES = ("qv", "all", "a32")

tap = Tap()
if not os.path.exists(os.path.join(ARCH, "lora_llama_gqa_qv.gguf")):
    tap.skip("adapters", "no " + ARCH + "/lora_* (set INGOT_ASSETS)")
    tap.done()
os.makedirs(os.path.join(FOLDER, "adapters"), exist_ok=True)


def model(base):
    return os.path.join(FOLDER, base + ".ingot")


def adapter(name):
    return os.path.join(FOLDER, "adapters", name + ".ingot")


def make(source, base, name, *options):
    return run([HOST, "adapter", source, "--base", base, "-o", adapter(name), *options])


def reference(case):
    with open(os.path.join(ARCH, case + ".json"), encoding="utf-8") as f:
        return json.load(f)


def logits(base, ids, *options):
    """The output of `ingot logits` for the ids, by position."""
    out = os.path.join(WORK, "adapters-%d.f32" % (hash((base, options)) & 0xffffff))
    done = run([HOST, "logits", base, "--tokens", " ".join(map(str, ids)), "--no-bos", "-n", "0", "-q", "--kv", "f32", "-o",
                out, *options])
    rows = array.array("f")
    if done[0] == 0:
        with open(out, "rb") as f:
            rows.frombytes(f.read())
    return rows, done[1]


def nmse(got, rows):
    want = [x for row in rows for x in row]
    if len(got) != len(want):
        return float("inf")
    return sum((a - b) ** 2 for a, b in zip(got, want)) / sum(b * b for b in want)


# ---- against llama.cpp

for base in BASES:
    pack(os.path.join(ARCH, base + ".gguf"), "f32", os.path.join("adapters-models", base + ".ingot"))
    for name in NAMES:
        status, text = make(os.path.join(ARCH, f"lora_{base}_{name}.gguf"), model(base), f"{base}-{name}", "--type", "f32")
        tap.ok(status == 0 and "for ingot test " + base in text, f"{base}-{name}: made", text)
        case = reference(f"lora_{base}_{name}")
        for scale, rows in ((1, "logits"), (0.5, "logits_scale_0.5")):
            got, text = logits(model(base), case["ids"], "--adapter", f"{base}-{name}:{scale}")
            error = nmse(got, case[rows])
            tap.ok(error < NMSE, f"{base}-{name} at scale {scale}: NMSE {error:.2g}", text)
    case = reference(f"lora_{base}_two")
    both = ",".join(f"{file[len('lora_' + base) + 1:-len('.gguf')]}:{scale}" for file, scale in case["adapters"])
    both = ",".join(f"{base}-{item}" for item in both.split(","))
    got, text = logits(model(base), case["ids"], "--adapter", both)
    error = nmse(got, case["logits"])
    tap.ok(error < NMSE, f"{both}: NMSE {error:.2g}", text)
    without, text = logits(model(base), case["ids"])
    tap.ok(nmse(without, case["logits"]) > 1e-4, f"{base} without an adapter answers differently")

# Types of a file: f16 rounds once, q8_0 rounds to eight bits.
case = reference("lora_llama_gqa_all")
for kind, most in (("f16", 1e-4), ("q8_0", 1e-2)):
    make(os.path.join(ARCH, "lora_llama_gqa_all.gguf"), model("llama_gqa"), "all-" + kind, "--type", kind)
    got, text = logits(model("llama_gqa"), case["ids"], "--adapter", "all-" + kind)
    error = nmse(got, case["logits"])
    tap.ok(NMSE < error < most, f"all as {kind}: NMSE {error:.2g}, {os.path.getsize(adapter('all-' + kind))} bytes", text)

# ---- a PEFT folder: the same matrices, in the order of Hugging Face


def read_gguf(path):
    """Tensors of a GGUF of floats: name -> (columns, rows, bytes)."""
    with open(path, "rb") as f:
        data = f.read()
    at = 8
    n_tensors, n_values = struct.unpack_from("<QQ", data, at)
    at += 16

    def text():
        nonlocal at
        n, = struct.unpack_from("<Q", data, at)
        at += 8 + n
        return data[at - n:at].decode()

    def value(kind):
        nonlocal at
        if kind == 8:
            return text()
        if kind == 9:
            element, n = struct.unpack_from("<IQ", data, at)
            at += 12
            return [value(element) for _ in range(n)]
        size = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}[kind]
        at += size
        raw = data[at - size:at]
        return struct.unpack("<f", raw)[0] if kind == 6 else int.from_bytes(raw, "little")

    values, infos = {}, []
    for _ in range(n_values):
        key = text()
        kind, = struct.unpack_from("<I", data, at)
        at += 4
        values[key] = value(kind)
    for _ in range(n_tensors):
        name = text()
        n_dims, = struct.unpack_from("<I", data, at)
        dims = struct.unpack_from(f"<{n_dims}Q", data, at + 4)
        _, offset = struct.unpack_from("<IQ", data, at + 4 + 8 * n_dims)
        at += 16 + 8 * n_dims
        infos.append((name, dims, offset))
    start = (at + 31) // 32 * 32
    infos = [(name, (*dims, 1), offset) for name, dims, offset in infos]
    return values, {name: (dims[0], dims[1], data[start + offset:start + offset + 4 * dims[0] * dims[1]])
                    for name, dims, offset in infos}


def halves(rows, cols, raw, head_dim):
    """Move B's rows from pairs (2i, 2i + 1) of each head to halves (i, i + d/2), Hugging Face's order."""
    out = []
    for r in range(rows):
        head, at = r // head_dim * head_dim, r % head_dim
        half = head_dim // 2
        source = head + 2 * (at % half) + at // half
        out.append(raw[4 * cols * source:4 * cols * (source + 1)])
    return b"".join(out)


MODULES = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
           "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}


def make_peft(folder, source, head_dim, change=None, **config):
    values, tensors = read_gguf(source)
    header, body, at = {}, b"", 0
    rank = 0
    for name, (cols, rows, raw) in tensors.items():
        _, layer, module, _, half = name.split(".")
        if half == "lora_b" and module in ("attn_q", "attn_k"):
            raw = halves(rows, cols, raw, head_dim)
        rank = cols if half == "lora_b" else rank
        key = f"base_model.model.model.layers.{layer}.{MODULES[module]}.lora_{half[-1].upper()}.weight"
        header[key] = {"dtype": "F32", "shape": [rows, cols], "data_offsets": [at, at + len(raw)]}
        body += raw
        at += len(raw)
    os.makedirs(folder, exist_ok=True)
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "adapter_model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)
    whole = {"peft_type": "LORA", "r": rank, "lora_alpha": values["adapter.lora.alpha"], "bias": "none", **config}
    with open(os.path.join(folder, "adapter_config.json"), "w", encoding="utf-8") as f:
        json.dump(whole, f)


base_values, _ = read_gguf(os.path.join(ARCH, "llama_gqa.gguf"))
head = base_values["llama.embedding_length"] // base_values["llama.attention.head_count"]
peft = os.path.join(WORK, "adapters-peft")
make_peft(peft, os.path.join(ARCH, "lora_llama_gqa_all.gguf"), head)
status, text = make(peft, model("llama_gqa"), "peft", "--type", "f32")
got, more = logits(model("llama_gqa"), case["ids"], "--adapter", "peft")
tap.ok(status == 0 and nmse(got, case["logits"]) < NMSE, f"a PEFT folder: NMSE {nmse(got, case['logits']):.2g}", text + more)
with open(adapter("peft"), "rb") as f, open(adapter("llama_gqa-all"), "rb") as g:
    tap.ok(f.read()[4096:] == g.read()[4096:], "the PEFT folder gives the same bytes as the GGUF")
make_peft(peft, os.path.join(ARCH, "lora_llama_gqa_all.gguf"), head, use_rslora=True, lora_alpha=8 ** 0.5)
make(peft, model("llama_gqa"), "rslora", "--type", "f32")
got, more = logits(model("llama_gqa"), case["ids"], "--adapter", "rslora")
tap.ok(nmse(got, case["logits"]) < NMSE, f"rslora: NMSE {nmse(got, case['logits']):.2g}", more)
for words, why in (({"use_dora": True}, "DoRA"), ({"bias": "all"}, "biases"), ({"peft_type": "IA3"}, "LORA"),
                   ({"alpha_pattern": {"(?i)q.*": 4}}, "regular expression")):
    make_peft(peft, os.path.join(ARCH, "lora_llama_gqa_qv.gguf"), head, **words)
    status, text = make(peft, model("llama_gqa"), "never")
    tap.ok(status != 0 and why in text and text.count("\n") == 1, f"{list(words)[0]}: {text.strip()}")

# ---- one hash

TOKENS = 24
WORDS = {"adapter": "llama_gqa-qv,llama_gqa-all:0.5"}
card = make_card("adapters-card.img", model("llama_gqa"),
                 *(word for name in ("llama_gqa-qv", "llama_gqa-all", "all-q8_0", "qwen35_gqa-qv")
                   for word in ("--root", adapter(name) + f":adapters/{name}.ingot")))
CASES = {"two": WORDS["adapter"], "q8_0": "all-q8_0"}


def host(list_, cores, chunk, *more):
    return run([HOST, "run", model("llama_gqa"), "-p", "Once upon a time", "--temp", "0", "--ids", "-n", str(TOKENS),
                "--threads", str(cores), "--chunk", str(chunk), "--adapter", list_, *more])


def image(machine, list_, cores, more=""):
    return machine.run(f'prompt="Once upon a time" temp=0 ids n={TOKENS} cores={cores} model=llama_gqa adapter={list_} {more}',
                       cores, card_arguments(card))


size = os.path.getsize(model("llama_gqa"))
cells = {}
for case_, list_ in CASES.items():
    cells[case_, "host, 1 core"] = lambda l=list_: host(l, 1, 128)
    cells[case_, "host, 4 cores, chunk 1"] = lambda l=list_: host(l, 4, 1)
    cells[case_, "host, streamed"] = lambda l=list_: host(l, 2, 128, "--mem", str(size // 2))
    cells[case_, "host, guessing"] = lambda l=list_: host(l, 1, 128, "--spec", "ngram")
    cells[case_, "virt-arm64, 4 cores"] = lambda l=list_: image(ARM64, l, 4)
    cells[case_, "virt-arm64, streamed"] = lambda l=list_: image(ARM64, l, 1, f"mem={size // 2}")
    cells[case_, "virt-riscv64 V"] = lambda l=list_: image(RISCV64_WIDE, l, 4)
    cells[case_, "virt-riscv64"] = lambda l=list_: image(RISCV64, l, 1)
with ThreadPoolExecutor(os.cpu_count()) as pool:
    replies = dict(zip(cells, pool.map(lambda cell: Reply(cell()[1]), cells.values())))
for (case_, where), reply in replies.items():
    first = replies[case_, "host, 1 core"]
    tap.ok(reply.ids and len(reply.ids) == TOKENS and reply.ids == first.ids and reply.hash == first.hash,
           f"{case_}: {where}: logits {reply.hash}", reply.console)
plain = Reply(run([HOST, "run", model("llama_gqa"), "-p", "Once upon a time", "--temp", "0", "--ids", "-n", str(TOKENS)])[1])
tap.ok(len({plain.hash} | {replies[c, "host, 1 core"].hash for c in CASES}) == 3, "each adapter, and no adapter, has its own logits")

# ---- adapters are swapped back and forth in a conversation


def ids_of(text):
    return re.findall(r"^ids:((?: \d+)*)$", text, re.M)


swaps = []
for i in range(20):
    swaps += ["/reset", "/adapter " + ("off" if i % 2 else "llama_gqa-qv"), "Once upon a time"]
talk = "\n".join(swaps) + "\n"
for where, done in (
        ("host", run([HOST, "chat", model("llama_gqa"), "--temp", "0", "--ids", "-n", "6", "--template", "none"],
                     stdin=talk.encode())),):
    got = ids_of(done[1])
    tap.ok(len(got) == 20 and len(set(got[0::2])) == 1 and len(set(got[1::2])) == 1 and got[0] != got[1],
           f"{where}: 20 swaps, two answers in turn", done[1])

# Time is measured by the guest's clock, on which an instruction takes a nanosecond.
for machine in (ARM64, RISCV64_WIDE):
    with Console(machine, "temp=0 n=2 ticks model=llama_gqa", card_arguments(card) + ["-icount", "shift=0"]) as c:
        c.prompt(200)
        said = [c.say("/adapter " + name, 200) for name in ("llama_gqa-qv", "off", "llama_gqa-all", "llama_gqa-qv",
                                                            "llama_gqa-all,llama_gqa-qv")]
    ticks = [int(t) for s in said for t in re.findall(r"(\d+) ticks", s)]
    hz = {"virt-arm64": 62500000, "virt-riscv64": 10000000}[machine.board]
    micros = [t * 1e6 / hz for t in ticks]
    tap.ok(len(micros) == 5 and max(micros[1], *micros[3:]) < 100, f"{machine.label}: to another adapter in memory in "
           f"{max(micros[1], *micros[3:] or [1e9]):.1f} microseconds of guest time", f"{said}")

# After a change of the adapter the conversation so far is computed again with the new weights, as if they had been used
# from the start.
talk = "Once upon\n/adapter llama_gqa-all\n a time\n"
again = run([HOST, "chat", model("llama_gqa"), "--temp", "0", "--ids", "-n", "4", "--template", "none"], stdin=talk.encode())[1]
tap.ok("1 adapter is at work" in again, "a conversation continues with another adapter", again)
listed = run([HOST, "chat", model("llama_gqa"), "--template", "none"], stdin=b"/adapter llama_gqa-qv 0.5\n/adapters\n")[1]
tap.ok(re.search(r"llama_gqa-qv +\S+ KiB, in use, scale 0\.500", listed) and "all-q8_0" in listed, "/adapters lists the adapters", listed)

# ---- invalid adapters; the conversation continues

with open(adapter("llama_gqa-qv"), "rb") as f:
    good = f.read()


def bad(name, data):
    with open(adapter(name), "wb") as f:
        f.write(data)


bad("cut", good[:4096])
bad("empty", b"")
bad("header", good[:100] + b"\xff" + good[101:])
bad("table", good[:4100] + b"\xff" + good[4101:])
bad("weights", good[:-4000] + b"\xff" + good[-3999:])
with open(model("llama_gqa"), "rb") as f:
    bad("model", f.read())
REFUSED = {"cut": "cut short", "header": "header is damaged", "table": "table is damaged", "weights": "weights are damaged",
           "model": "it is a model", "qwen35_gqa-qv": "the model has", "never-made": "there is no adapter"}
lines = "".join(f"/adapter {name}\n" for name in REFUSED) + "/adapter llama_gqa-qv 1e9\nOnce upon a time\n"
done = run([HOST, "chat", model("llama_gqa"), "--temp", "0", "--ids", "-n", "6", "--template", "none"], stdin=lines.encode())[1]
errors = re.findall(r"error: (.*)", done)
for name, why in REFUSED.items():
    tap.ok(any(why in e for e in errors), f"{name}: {why}", done)
tap.ok("up to four" in done and len(ids_of(done)) == 1, "the conversation continues after a fifth adapter is refused", done)
status, text = run([HOST, "run", model("llama_gqa"), "-p", "Once", "--adapter", "llama_gqa-all", "--adapters", "64K"])
tap.ok(status != 0 and "--adapters SIZE makes more" in text, "too little memory is reported with the cure", text)
status, text = ARM64.run('prompt="Once" n=4 model=llama_gqa adapter=qwen35_gqa-qv', 1, card_arguments(card))
tap.ok("warning: adapter=qwen35_gqa-qv cannot be used" in text and "no adapter is used" in text and "new" in text,
       "an adapter option that cannot be applied is reported, and the board replies", text)
status, text = make(os.path.join(ARCH, "lora_qwen35_gqa_qv.gguf"), model("llama_gqa"), "never")
tap.ok(status != 0 and "another model" in text, f"ingot adapter: {text.strip()}")
status, text = make(os.path.join(ARCH, "llama_gqa.gguf"), model("llama_gqa"), "never")
tap.ok(status != 0 and "not an adapter" in text, f"ingot adapter: {text.strip()}")

# ---- by requests

requests = ['{"id":1,"prompt":"Once upon a time","adapter":"llama_gqa-qv","temp":0,"n":6}',
            '{"id":2,"reset":true,"prompt":"Once upon a time","adapter":"off"}', '{"id":3,"adapter":"nobody","prompt":"x"}']
done = run([HOST, "chat", model("llama_gqa"), "--mode", "json", "--template", "none"],
           stdin=("\n".join(requests) + "\n").encode())[1]
tap.ok(done.count('"done"') == 3 and '"adapter"' in done and "there is no adapter nobody" in done, "adapters in requests", done)
requests = [{"command": "/adapter off"}, {"command": "/adapters"}, {"adapter": "llama_gqa-qv", "grammar": "a||b"}, {"command": "/adapters"},
            {"command": "/adapter llama_gqa-qv:0.5"}, {"command": "/adapters"}, {"adapter": "off", "grammar": "a||b"}, {"command": "/adapters"}]
done = run([HOST, "chat", model("llama_gqa"), "--mode", "json", "--template", "none", "--grammar", "on"],
           stdin="".join(json.dumps({"id": i, **r}) + "\n" for i, r in enumerate(requests)).encode())[1]
events = [json.loads(line) for line in done.splitlines() if line.startswith("{")]
said = [[e["text"] for e in events if e.get("id") == i and e["event"] != "done" and ("in use" in e["text"] or e["event"] == "error")]
        for i in range(len(requests))]
tap.ok(said[1] == said[3] == [] and len(said[5]) == 1 and said[5] == said[7] and all("grammar: " in said[i][0] for i in (2, 6)),
       "a request whose grammar is refused leaves the adapters alone", said)
tap.done()
