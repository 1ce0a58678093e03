#!/usr/bin/python3
"""Defaults in a model file: the sampling that a GGUF or a folder recommends, a folder's chat template, and additions by `ingot pack --defaults`. The
packed file has these defaults, which apply on this computer, in the server and on both boards; a user's settings override them. It needs no assets."""

import atexit
import json
import os
import random
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from board_line import Board
from gguf_files import F32, I32, STRING, Gguf, text
from hf_files import random_model, write_json
from machine import ARM64, HOST, RISCV64, ROOT, WORK, Reply, Tap, card_arguments, make_card, run
from served import Served

DIM, CONTROL, BYTE = 32, 3, 6
OWN = "You are a helpful AI assistant."
CHATML = ("{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\n" + OWN + "<|im_end|>\\n' }}{% endif %}"
          "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
BLOCK = CHATML.replace("<|im_start|>system\\n" + OWN + "<|im_end|>\\n' }}", "<|im_start|>nobody<|im_end|>\\n' }}")
N = "12"
tap = Tap()
os.makedirs(WORK, exist_ok=True)


def gguf(name, jinja=CHATML, **values):
    """A llama with one layer, random weights and a token for each byte; values: those of general.sampling."""
    rng, g = random.Random(3), Gguf("llama")
    for key, value in ((".context_length", 256), (".embedding_length", DIM), (".block_count", 1), (".feed_forward_length", DIM),
                       (".attention.head_count", 2), (".attention.head_count_kv", 2)):
        g.u32(key, value)
    g.f32(".attention.layer_norm_rms_epsilon", 1e-5)
    tokens = [("<unk>", 2), ("<s>", CONTROL), ("</s>", CONTROL)] + [(f"<0x{b:02X}>", BYTE) for b in range(256)]
    tokens += [("<|im_start|>", CONTROL), ("<|im_end|>", CONTROL)]
    g.string("tokenizer.ggml.model", "llama")
    g.array("tokenizer.ggml.tokens", STRING, [text(t) for t, _ in tokens])
    g.array("tokenizer.ggml.scores", F32, [struct.pack("<f", -1.0)] * len(tokens))
    g.array("tokenizer.ggml.token_type", I32, [struct.pack("<i", t) for _, t in tokens])
    g.u32("tokenizer.ggml.bos_token_id", 1)
    g.u32("tokenizer.ggml.eos_token_id", 2)
    if jinja is not None:
        g.string("tokenizer.chat_template", jinja)
    for key, value in values.items():
        if isinstance(value, float):
            g.f32("general.sampling." + key, value)
        else:
            g.add("general.sampling." + key, I32, struct.pack("<i", value))
    for part in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        g.tensor(part + ".weight", (DIM,), "F32", struct.pack("<f", 1.0) * DIM)
    for part, rows in (("token_embd", len(tokens)), ("output", len(tokens)), *((f"blk.0.{p}", DIM) for p in (
            "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"))):
        g.floats(part + ".weight", (rows, DIM), [rng.gauss(0, .5) for _ in range(rows * DIM)])
    path = os.path.join(WORK, name + ".gguf")
    g.write(path)
    return path


def packed(source, name, *options):
    """(the file, the packer's output, the output of `ingot info`)"""
    out = os.path.join(WORK, name + ".ingot")
    status, said = run([HOST, "pack", source, "-o", out, *options])
    if status != 0:
        return out, said, {}
    return out, said, json.loads(run([HOST, "info", out, "--json"])[1])


def near(found, wanted):
    return found.keys() == wanted.keys() and all(abs(found[k] - v) < 1e-6 for k, v in wanted.items())


# ---- from the input ----------------------------------------------------------------------------

plain = gguf("defaults-plain")
whole = gguf("defaults", temp=0.25, top_p=0.875, min_p=0.125, penalty_repeat=1.5, top_k=7, penalty_last_n=-1)
ALL = {"temp": 0.25, "top_p": 0.875, "min_p": 0.125, "repeat": 1.5, "top_k": 7, "repeat_last_n": 1 << 20}
quarter, said, facts = packed(whole, "defaults-quarter")
tap.ok(near(facts.get("defaults", {}), ALL), "the packed file has a GGUF's general.sampling", said)
without, said, facts = packed(plain, "defaults-without")
tap.ok(facts.get("defaults") == {}, "a GGUF without general.sampling gives no defaults", said)
_, said, facts = packed(gguf("defaults-wrong", temp=-1.0, top_p=2.0, top_k=-7, min_p=0.5), "defaults-wrong")
tap.ok(near(facts.get("defaults", {}), {"min_p": 0.5}) and "general.sampling.temp is -1" in said and "general.sampling.top_k is -7" in said,
       "values out of their range are left out and named", said)
_, said, facts = packed(gguf("defaults-k", top_k=-1), "defaults-k")
tap.ok(near(facts.get("defaults", {}), {"top_k": 0}), "top_k of -1 is off", said)
folder = random_model("llama", "defaults-")
write_json(folder, "generation_config.json", {"do_sample": True, "temperature": 0.5, "top_p": 0.75, "top_k": 20, "repetition_penalty": 1.25})
_, said, facts = packed(folder, "defaults-folder")
tap.ok(near(facts.get("defaults", {}), {"temp": 0.5, "top_p": 0.75, "top_k": 20, "repeat": 1.25}),
       "the packed file has the defaults of a folder's generation_config.json", said)
write_json(folder, "generation_config.json", {"do_sample": False, "temperature": 0.5, "top_p": None, "repetition_penalty": 1.25})
_, said, facts = packed(folder, "defaults-folder")
tap.ok(near(facts.get("defaults", {}), {"repeat": 1.25}), "do_sample: false leaves the temperature alone", said)

# ---- the chat template of a folder -------------------------------------------------------------

folder = os.path.join(WORK, "defaults-template")
shutil.rmtree(folder, True)
shutil.copytree(os.path.join(ROOT, "models/demo"), folder)
with open(os.path.join(folder, "tokenizer_config.json"), encoding="utf-8") as f:
    config = {key: value for key, value in json.load(f).items() if key != "chat_template"}
# The later a file is in this list, the more it counts.
for name, expected in (("chat_template.json", "json"), ("tokenizer_config.json", "config"), ("chat_template.jinja", "jinja")):
    jinja = f"{{% for m in messages %}}<{expected}-{{{{ m.role }}}}>{{{{ m.content }}}}<end>{{% endfor %}}<{expected}-assistant>"
    if name == "tokenizer_config.json":
        write_json(folder, name, {**config, "chat_template": jinja})
    elif name == "chat_template.json":
        write_json(folder, "tokenizer_config.json", config)
        write_json(folder, name, {"chat_template": jinja})
    else:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(jinja)
    _, said, facts = packed(folder, "defaults-template")
    tap.ok((facts.get("template") or {}).get("user_prefix") == f"<{expected}-user>", f"a folder's chat template is that of {name}", said)
with open(os.path.join(folder, "chat_template.json"), "w", encoding="utf-8") as f:
    f.write("{")
_, said, _ = packed(folder, "defaults-template")
tap.ok("chat_template.json" in said and "JSON" in said, "a damaged chat_template.json is named", said)

# ---- from --defaults ---------------------------------------------------------------------------

_, said, facts = packed(whole, "defaults-over", "--defaults", 'temp=0 system="Be brief."')
tap.ok(near(facts.get("defaults", {}), {**ALL, "temp": 0}) and facts["template"].get("system_prompt") == "Be brief.",
       "--defaults overrides the input's defaults", said)
for jinja, name in ((CHATML, "a prompt"), (BLOCK, "a block")):
    path = gguf("defaults-system", jinja)
    _, said, facts = packed(path, "defaults-system")
    own = (facts.get("template") or {}).get("system_prompt")
    tap.ok(facts.get("template", {}).get("system_prompt_is_block") == (jinja is BLOCK) and own, f"{name} of the template's own: {own!r}", said)
    for system in ("", "x", "A longer prompt than that of the template, which moves what is behind it in the file. " * 3):
        _, said, facts = packed(path, "defaults-system", "--defaults", f'system="{system}"')
        found = facts.get("template") or {}
        tap.ok(found.get("system_prompt", "") == system and found.get("system_prefix") == "<|im_start|>system\n" and
               found.get("reply_prefix") == "<|im_start|>assistant\n" and not found["system_prompt_is_block"],
               f"{name} becomes one of {len(system)} bytes", said)
for words, expected in (("seed=1", "temp, top_p, top_k"), ("n=3", "temp, top_p, top_k"), ("temp=hot", "temp, top_p, top_k"), ("tmp=1", "temp, top_p, top_k")):
    status, said = run([HOST, "pack", plain, "-o", os.path.join(WORK, "defaults-no.ingot"), "--defaults", words])
    tap.ok(status == 2 and expected in said, f"--defaults {words} is refused", said)
bare = gguf("defaults-bare", None)
status, said = run([HOST, "pack", bare, "-o", os.path.join(WORK, "defaults-no.ingot"), "--defaults", "system=x"])
tap.ok(status == 1 and "no chat template" in said and not os.path.exists(os.path.join(WORK, "defaults-no.ingot")),
       "a system prompt for a model without a template is refused", said)

# ---- in a conversation -------------------------------------------------------------------------


def settings(lines, *options, model=quarter):
    """The numbers of the last answer to /set, by name."""
    status, said = run([HOST, "chat", model, "-q", *options], stdin="".join(line + "\n" for line in (*lines, "/set")).encode())
    found = {}
    for words in (word.strip().split(" ") for line in said.splitlines() for word in line.split(", ")):
        if len(words) == 2 and words[1].replace(".", "").isdigit():
            found[words[0]] = float(words[1])
    return [found.get(name) for name in ("temp", "top_p", "top_k", "repeat")] if status == 0 else None, said


found, said = settings(())
tap.ok(found == [0.25, 0.875, 7, 1.5], "/set shows the file's defaults", said)
found, said = settings((), "--temp", "0.5")
tap.ok(found == [0.5, 0.875, 7, 1.5], "an option overrides the file's defaults", said)
found, said = settings((f"/model {without}",))
tap.ok(found == [0.8, 0.95, 40, 1], "a model without defaults, loaded next, has the program's", said)
found, said = settings(("/set temp 0.75", f"/model {without}", f"/model {quarter}"))
tap.ok(found == [0.75, 0.875, 7, 1.5], "/set still holds after other models are loaded", said)

found, said = settings((), model=whole)
tap.ok(found == [0.25, 0.875, 7, 1.5], "/set shows the defaults of a GGUF that is not packed", said)
found, said = settings((f"/model {whole}",), model=without)
tap.ok(found == [0.25, 0.875, 7, 1.5], "/model applies the loaded model's defaults", said)
status, said = run([HOST, "chat", quarter, "--json", "-q"], stdin=b"\n")
ready = [json.loads(line) for line in said.splitlines() if line.startswith('{"event":"ready"')]
tap.ok(len(ready) == 1 and near(ready[0].get("defaults", {}), ALL) and ready[0]["model"].endswith("defaults-quarter.ingot"),
       "mode=json: ready has the defaults", said)
status, said = run([HOST, "chat", without, "--json", "-q"], stdin=b"\n")
tap.ok('"event":"ready"' in said and "defaults\":" not in said, "mode=json: ready has no defaults if the file has none", said)

# ---- replies: greedy by default, here, in the server and on boards -----------------------------

greedy, said, _ = packed(plain, "defaults-greedy", "--defaults", "temp=0")
ask = [HOST, "run", "-p", "ab", "-n", N, "--ids", "-q"]
wanted = Reply(run([*ask, without, "--temp", "0"])[1]).ids
tap.ok(len(wanted) > 4, f"greedy ids: {wanted}")
drawn = {tuple(Reply(run([*ask, without, "-s", str(seed)])[1]).ids) for seed in (1, 2, 3)}
tap.ok(len(drawn) > 1, "without defaults, replies are random", str(drawn))
replies = [Reply(run([*ask, greedy, "-s", str(seed)])[1]).ids for seed in (1, 2, 3)]
tap.ok(replies == [wanted] * 3, "with temp=0 in the file, replies are greedy", str(replies))
drawn = {tuple(Reply(run([*ask, greedy, "-s", str(seed), "--temp", "0.8"])[1]).ids) for seed in (1, 2, 3)}
tap.ok(len(drawn) > 1, "--temp makes replies random again", str(drawn))



def check_server(served, name):
    """Requests of a client without settings, and of one with settings, alternating."""
    def reply(**fields):
        status, answer = served.ask("/v1/chat/completions", {"messages": [{"role": "user", "content": "ab"}], "max_tokens": int(N), **fields})
        return answer["choices"][0]["message"]["content"] if status == 200 else f"{status} {answer}"

    cold = reply(temperature=0)
    drawn = [reply(seed=seed, temperature=0.8, top_p=1, min_p=0, top_k=0) for seed in (1, 2, 3)]
    tap.ok(len(set(drawn)) > 1, f"{name}: a request's temperature overrides the file's", str(drawn))
    replies = [reply(seed=seed) for seed in (1, 2, 3)]
    tap.ok(set(replies) == {cold}, f"{name}: requests without a temperature use the file's, also after a request that had one", str((cold, replies)))
    return served


check_server(Served(model=greedy), "serve").end()
check_server(Served(model=gguf("defaults-served", temp=0.0)), "serve a GGUF").end()
for what, jinja, equal in (("that trims texts", CHATML.replace("m['content']", "(m['content'] | trim)"), True), ("that does not", CHATML, False)):
    trimming = Served(model=gguf("defaults-trims", jinja, temp=0.0))
    talks = [trimming.ask("/v1/chat/completions", {"max_tokens": 1, "messages": [{"role": role, "content": space + said + space} for role, said in (
        ("system", "s"), ("user", "a"), ("assistant", "b"), ("user", "c"))]})[1]["usage"]["prompt_tokens"] for space in ("", "\u3000\n ")]
    trimming.end()
    tap.ok(talks[1] - talks[0] == (0 if equal else 4 * 2 * 5), f"white space around messages of every role, with a template {what}", str(talks))

card = make_card("defaults.img", greedy)
folder = tempfile.mkdtemp(prefix="ingot-defaults-")  # a socket's path has 107 bytes at most
atexit.register(shutil.rmtree, folder, True)
board = Board(ARM64, folder, "a", card)
served = Served(model=board.line)
if not served.there:
    tap.skip("serve a board", "node-llhttp or libwslay-dev is not installed")
else:
    check_server(served, "serve a board").end()
    own = Served("--temp", "0.8", model=board.line)
    asked = [own.ask("/v1/chat/completions", {"messages": [{"role": "user", "content": "ab"}], "max_tokens": int(N), "seed": seed}) for seed in (1, 2, 3)]
    tap.ok(len({a["choices"][0]["message"]["content"] for _, a in asked}) > 1, "an option of the server overrides the file's defaults", str(asked))
    own.end()
board.kill()
for machine in (ARM64, RISCV64):
    status, console = machine.run(f'prompt="ab" n={N} ids seed=7', 1, card_arguments(card))
    tap.ok(status == 0 and Reply(console).ids == wanted, f"{machine.board}: ids {Reply(console).ids}", console)
os.remove(card)
tap.done()
