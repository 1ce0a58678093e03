#!/usr/bin/python3
"""`ingot info` shows a GGUF's chat template, and a turn's tokens follow it; what `ingot info` says about boards equals what the planner says."""

import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import boards
from machine import ASSETS, HOST, ROOT, WORK, Reply, Tap, run

STORIES = os.path.join(ASSETS, "gguf/stories260K.gguf")
ZEPHYR = ("{% for message in messages %}\n{% if message['role'] == 'user' %}\n"
          "{{ '<|user|>\n' + message['content'] + eos_token }}\n"
          "{% elif message['role'] == 'system' %}\n"
          "{{ '<|system|>\n' + message['content'] + eos_token }}\n"
          "{% elif message['role'] == 'assistant' %}\n"
          "{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{% endif %}\n"
          "{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}")

tap = Tap()
os.makedirs(WORK, exist_ok=True)


def with_template(jinja, name):
    """stories260K.gguf with one more key at the front; its tensors lie at multiples of 32."""
    raw = open(STORIES, "rb").read()
    magic, version, tensors, keys = struct.unpack_from("<4sIQQ", raw)
    key, value = b"tokenizer.chat_template", jinja.encode()
    fixed = 8 + len(key) + 4 + 8
    value += b"{#" + b" " * (-(fixed + len(value) + 4) % 32) + b"#}"  # padding, so that the tensors stay aligned
    extra = struct.pack("<Q", len(key)) + key + struct.pack("<IQ", 8, len(value)) + value
    path = os.path.join(WORK, name)
    with open(path, "wb") as f:
        f.write(struct.pack("<4sIQQ", magic, version, tensors, keys + 1) + extra + raw[24:])
    return path


def host(*words):
    return run([HOST, *words])


def ids(*words):
    status, console = host("run", *words, "-p", "Hello", "-n", "8", "--temp", "0", "--ids")
    return (Reply(console).ids, Reply(console).stats.split(" + ")[0], console)


status, names = host("run", "--template", "list")
tap.ok(status == 0 and re.search(r"^zephyr +Zephyr, TinyLlama$", names, re.M) and
       re.search(r"^none ", names, re.M), "--template list", names)

if not os.path.exists(STORIES):
    tap.skip("a GGUF's template", f"no {STORIES} (set INGOT_ASSETS)")
else:
    model = with_template(ZEPHYR, "zephyr.gguf")
    status, text = host("info", model)
    tap.ok(status == 0, "info of a GGUF with a template", text)
    for line in (r"template    zephyr", r'            user +"<\|user\|>\\n"',
                 r'            reply +"<\|assistant\|>\\n"', r'              ends +"</s>\\n"',
                 r'stops at    2 "</s>"', r"family      llama",
                 r"attention   8 heads of 8, 4 for keys and values"):
        tap.ok(re.search(f"^{line}$", text, re.M), f"says {line}", text)

    packed = os.path.join(WORK, "no-template.ingot")
    status, text = host("pack", with_template("{{ '<|im_start|>' }}", "odd.gguf"), "-o", packed)
    tap.ok(status == 0 and "does not write the user's text" in text and "--template NAME" in text,
           "a template that cannot be used: why, and the cure", text)
    tap.ok(ids(packed)[0] == ids(STORIES)[0] is not None, "a template that cannot be used lets the model continue the text")
    tap.ok(ids(packed, "--template", "zephyr")[:2] == ids(model)[:2] and ids(model)[0],
           "--template on an .ingot gives the same turn as the GGUF's own template")
    tap.ok(ids(model, "--template", "none")[:2] == ids(STORIES)[:2], "--template none continues the text")
    tap.ok(ids(model, "--system", "Be brief.")[1] != ids(model)[1] != ids(STORIES)[1],
           "system= makes the prompt longer, as the template does")
    console = ids(STORIES, "--system", "x")[2]
    tap.ok("--system has no effect" in console, "a system prompt without a template gives a warning", console)
    status, text = host("run", model, "--template", "nonesuch", "-p", "x")
    tap.ok(status == 1 and "there is no template 'nonesuch'" in text, "an unknown template is refused", text)

UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def leaves(value):
    """Every number and text of a JSON value, including numbers inside texts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, str):
        return [value] + [float(n) for n in re.findall(r"\d+(?:\.\d+)?(?:e[-+]\d+)?", value)]
    return [] if value is None else [value]


def facts(text):
    """Each printed number (its text, value, unit of its last digit), and every text in quotes."""
    numbers = []
    for shown, mantissa, fraction, power, unit in re.findall(
            r"((?<![\w.])(\d+(\.\d+)?)(e[-+]\d+)?(?: ([KMG]iB|B)\b)?)(?![\w.]*\w)", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        scale = UNITS[unit] * float("1" + (power or "e0"))
        numbers.append((shown, float(mantissa) * scale, 1.01 * scale * 10.0 ** -max(len(fraction) - 1, 0)))
    texts = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    return numbers, [t.replace("\\n", "\n").replace('\\"', '"') for t in texts]


def compare_json(model, *options):
    """Check that the JSON contains everything that the text output says."""
    text, (status, printed) = host("info", model, *options)[1], host("info", model, *options, "--json")
    name = os.path.basename(model)
    try:
        found = leaves(json.loads(printed))
    except ValueError as error:
        return tap.ok(False, f"{name}: info --json", f"{error}: {printed[-500:]}")
    numbers, texts = facts(text)
    values = [v for v in found if not isinstance(v, (str, bool))]
    missing = [shown for shown, value, digit in numbers if not any(abs(v - value) <= digit for v in values)]
    missing += [t for t in texts if t not in found and "\\x" not in t]
    words = re.search(r"^features +(.*)$", text, re.M)[1].split(", ")
    missing += [w for w in words if w not in found]
    missing += [f"board {b}" for b in boards.names() if b not in found]
    return tap.ok(status == 0 and len(numbers) > 60 and not missing,
                  f"{name}: info --json has the {len(numbers)} numbers and {len(texts)} texts of info", missing)


TOLD = "|".join(boards.published())
for shape, kind in (("untied", "f32"), ("s15m", "q8_0")):
    model = os.path.join(WORK, f"info-{shape}.ingot")
    host("synth", "--shape", shape, "-o", model, "--type", kind)
    status, text = host("info", model)
    rows = re.findall(rf"^({TOLD}) +([\d.]+) ([MG])iB +(\w+) +(\d+) +([\d.]+ \w+)", text,
                      re.M)
    tap.ok(len(rows) == sum(len(boards.row(board)["ram_mib"]) for board in boards.published()) and all(re.search(rf"^{b} .* [MG]iB ", text, re.M) for b in boards.names()),
           f"{shape}: rows of all boards", text)
    for name, ram, unit, residency, context, memory in rows:
        size = int(float(ram)) << (20 if unit == "M" else 30)
        status, plan = host("plan", model, "--ram", str(size - (64 << 20)), "-c", context)
        tap.ok(f"plan: {residency}, context {context}" in plan and
               re.search(rf"total +{re.escape(memory)}\b", plan),
               f"{shape} on {name} with {ram} {unit}iB: {residency}, {memory}, as planned", plan)
    compare_json(model, "--tensors")
    os.unlink(model)
compare_json(os.path.join(ROOT, "models/demo-q8_0.ingot"))
if os.path.exists(STORIES):
    compare_json(with_template(ZEPHYR, "zephyr.gguf"), "--tensors")

# The special features of a family, in words.
PARTICULAR = {
    "lfm2moe": ["lfm2_moe", "attention in 2 of 5 layers", "a short convolution in 3 of 5 layers",
                "a convolution of 3 positions", "a state of 1.50 KiB", "6 experts of 8 in 3 of 5 layers",
                "2 used", "chosen by sigmoid"],
    "qwen35moe": ["qwen3_5_moe", "a gated delta net in 3 of 4 layers", "a shared expert of 12",
                  "4 recurrent heads of 16 with 2 groups of 16", "a gate of the attention's output"],
    "granitehybrid_dense": ["Mamba2 in 3 of 4 layers", "residual times 0.6", "logits times 0.4"],
    "gemma4": ["keys of other layers in 3 of 6 layers", "heads of 16 where there is a window",
               "an embedding of 8 for each layer", "values normed"],
    "gptoss_f32": ["attention sinks", "clamped SwiGLU", "weighed by softmax of the chosen"],
    "olmo2": ["none before them", "q/k norms over all heads"],
    "smollm3": ["rope in 3 of 4 layers"],
}
for name, words in PARTICULAR.items():
    path = os.path.join(ASSETS, f"arch/{name}.gguf")
    if not os.path.exists(path):
        tap.skip(name, f"no {path} (set INGOT_ASSETS)")
        continue
    text = host("info", path)[1]
    missing = [w for w in words if w not in text]
    tap.ok(not missing, f"{name}: info shows the model's special features", f"missing {missing} in\n{text}")
    compare_json(path, "--tensors")
tap.done()
