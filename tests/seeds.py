#!/usr/bin/python3
"""Measures the requirements of the founding documents: each row has a command, and the figure that it prints. docs/SEEDS.md is the output.

usage: seeds.py [ROW ...] [-o FILE]     if rows are given, FILE keeps its other rows

A command that prints TAP is counted; otherwise its row has a pattern. A command that fails, or prints no figure, fails the run. If a
command prints only skipped lines, its row is skipped with their reason, for example missing models (INGOT_ASSETS). Times are
measured on this computer, and emulated times say nothing about a board. FILE shows a command of more than 70 characters as
`tests/seeds.py ROW`."""

import os
import re
import subprocess
import sys
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LIMIT = 1800  # seconds of a command: ten spoken questions take most of it on a busy computer
SHOWN = 70  # longest command that the page shows
DEMO = "models/demo-q8_0.ingot"
SMOL = "build/seeds-smol135.ingot"
CHAT = f"build/host/ingot chat {DEMO} --json -q"
RUN = f"build/host/ingot run {DEMO}"

# Rows: number, requirement, its document, command, pattern (None: the command prints TAP), figure.
ROWS = [
    (1, "freestanding C and assembly, no inference library, one Makefile", "L", "make -s BOARD=virt-arm64 image >/dev/null; wc -c < build/virt-arm64/ingot.bin",
     r"^(\d+)", "{} bytes of image, with newlib; 524,288 are allowed"),
    (2, "kernels in assembly for x86-64, ARM64 and RISC-V", "L A", "perl tests/kernels/kernels.t", None, "checks: every kernel against its reference, in emulators"),
    (3, "int4 dequantized and multiplied at once, never expanded to memory", "L A S",
     f"""printf '{{"prompt":"Hi","n":8,"temp":0}}\\n' | {CHAT} --mem 900K | grep done""",
     r'streamed_bytes_per_pass":(\d+),"planned_bytes_per_pass":(\d+)', "{} bytes a pass, the layers' own {} as packed"),
    (4, "FigQuant INT4, a codebook in a register", "L", "make -s build/tests/unit/flash_image/quantize_table.t && build/tests/unit/flash_image/quantize_table.t", None,
     "checks of FIG4 and the other tables; losses and instructions in docs/experiments"),
    (5, "hardware detection, one binary per ISA", "L", f"{RUN} -p Hi -n 1 2>&1 | grep kernels:", r"kernels: (.*)", "{}"),
    (6, "arena, no malloc; memory plan by region", "L R", f"""printf '{{"prompt":"Hi","n":8}}\\n{{"stats":true}}\\n' | {CHAT} | grep '"stats"'""",
     r'"weights","used_bytes":(\d+),"bytes":(\d+)\}.*"scratch","used_bytes":(\d+),"bytes":(\d+)', "weights {} of {} bytes, scratch at most {} of {}"),
    (7, "weights in place, layers streamed", "L R", f"{RUN} -p Hi -n 4 --mmap 2>&1 | tail -1; {RUN} -p Hi -n 4 --mem 900K 2>&1 | tail -1",
     r"(in place)[^]]*\][\s\S]*(streamed, read [^,]*)", "{}; {}"),
    (8, "threads over rows, one barrier a step", "L Q S",
     f"for t in 1 2; do for i in 1 2 3 4 5; do build/host/ingot bench {SMOL} -t $t 2>/dev/null; done | sort -t: -k2 -g | tail -1; done",
     r"prefill of 128 tokens: ([\d.]+) tok/s; decode of 16: ([\d.]+)[\s\S]*prefill of 128 tokens: ([\d.]+) tok/s; decode of 16: ([\d.]+)",
     "1 thread: prefill {}, decode {} tok/s; 2: {}, {} (this computer, the best of 5 by prefill)"),
    (9, "cores of different strength", "S", "make -s build/tests/unit/compute/shares.t && build/tests/unit/compute/shares.t", r"the last of four at a third: the shares take (\d+) thousandths of the ideal time, equal parts (\d+)",
     "one core of four at a third: {} thousandths of the ideal time, {} in equal parts"),
    (10, "keys and values paged, no reallocation", "L R Q", "make -s build/tests/unit/compute/kv_pool.t && build/tests/unit/compute/kv_pool.t", None, "checks of pages"),
    (11, "own format, GGUF; converters", "L A", "tests/make/pack.t", None, "checks of packing; families in docs/MODELS.md"),
    (12, "BPE, SentencePiece, vocabularies of 248K; 1 MB/s", "L Q", "tests/golden/tokenizers.t", None, "checks against published tokenizers"),
    (13, "lora_fused, ranks 4 to 32", "A", "tests/golden/adapters.t", None, "checks: fused, swapped, two at once, the same bits on boards"),
    (14, "Memory Fabric: five gated namespaces", "L", "tests/golden/fabric.t", None, "checks: facts, gates, changed replies"),
    (15, "hot swap of adapters, up to rank 32", "A R", "tests/golden/adapters.t | grep -E 'to another adapter|# SKIP'", r"to another adapter in memory in ([^\n]*)[\s\S]*in memory in ([^\n]*)", "{} (arm64), {} (riscv64), emulated; what they add to a token is in docs/experiments"),
    (16, "hot reload of weights without a restart", "L", f"""printf '{{"load":"demo-q4_0"}}\\n{{"prompt":"What is 7 plus 8?","temp":0}}\\n' | {CHAT} | grep -E 'ready|"text"'""",
     r'"model":"(demo-q4_0[^"]*)"', "{} after a request; `ingot send --load` brings one over the wire first (tests/boot/send.t)"),
    (17, "HTTP and WebSocket server", "L", "tests/serve/serve.t && tests/serve/serve_ws.t && tests/boot/openai.t", None, "checks over HTTP and WebSocket, by the OpenAI package too; a page: tests/boot/page.t"),
    (18, "voice bridge", "L", "tests/boot/voice.t", None, "checks: a spoken question, a spoken answer, sentence by sentence"),
    (19, "bindings: C API, Python", "L A Q", "tests/boot/library.t && tests/boot/client.t", None, "checks of both"),
    (20, "identity prompt, last 10 turns, memory tags, log, reflection", "L", "tests/boot/presets.t && make -s build/tests/unit/chat/memory_tags.t && build/tests/unit/chat/memory_tags.t",
     None, "checks"),
    (21, "the log feeds training, the adapter comes back", "L A", "tests/golden/turn_log.t", r"(stories about 10 other animals[^\n]*)", "{}"),
    (22, "experiments, negative ones too", "L", "grep -c '^. .*](.*md) .' docs/experiments/README.md", r"(\d+)", "{} questions"),
    (23, "binary < 1 MB, start < 500 ms, first token < 200 ms", "L", "make -s run CMDLINE='prompt=Hi n=8 temp=0' 2>/dev/null | tr -d '\\r' | grep -E 'ready|first token'",
     r"entry to prompt (\d+ ms)[\s\S]*first token ([\d.]+ s)", "to the prompt {}, first token {} (QEMU's time)"),
    (24, "telemetry of every stage, CSV, gates against regressions", "A", "tests/make/bench_gate.t", None, "checks: a figure off by 2 % fails"),
    (25, "several requests in a pass, by adapter", "A R", f"build/host/ingot bench {SMOL} --together 4 2>/dev/null", r"4 parallel sequences: ([\d.]+) tok/s in \d+ passes; one at a time: ([\d.]+)", "4 sequences in a pass: {} tok/s, one at a time {} (this computer)"),
    (26, "scales of a row, outliers", "A", "make -s build/tests/unit/flash_image/pack_types.t && build/tests/unit/flash_image/pack_types.t", None, "checks of every type; NMSE in docs/experiments"),
    (27, "FP8 E4M3 and others for keys and values", "A", "make -s build/tests/unit/compute/kv_format.t && build/tests/unit/compute/kv_format.t", None, "checks: bytes and cosines of each type"),
    (28, "prefix cache", "A", f"""printf '{{"hello":2}}\\n{{"prompt":"What is 3 plus 4?"}}\\n{{"prompt":"And 2 plus 2?"}}\\n' | {CHAT} --temp 0 | grep usage | tail -1""",
     r'"prompt_tokens":(\d+),"cached_tokens":(\d+)', "of {} tokens {} were there"),
    (29, "fast Hadamard transform, attention at low precision", "A Q", "grep '^| rot_q8 ' docs/KV.md", r"\| ([\d.]+ \([^|]*\)) \| (\d+) \| q8 of", "rot_q8: perplexity {}, {} instructions a number (`make bench-kv`)"),
    (30, "training of a LoRA on the host", "A", "tests/golden/turn_log.t | grep loss", r"ok \d+ - ([^\n]*)", "{}"),
    (31, "kernel registry", "R", r"""echo '#include "kernels/kernels.h"' | cc -E -I. -xc - | grep -oE 'KERNEL_[a-z]\w*,' | sort -u | wc -l""", r"([1-9]\d+)", "{} operations, chosen at start"),
    (32, "attention < 2 ms at 256, rope < 0.1 ms, rmsnorm < 0.05 ms", "R", "make -s build/tests/bench/native_kernels && build/tests/bench/native_kernels",
     r"rmsnorm_f32_avx2 1 576 1 0 ([\d.]+)[\s\S]*rope_f32_halves_avx2 1 64 1 0 ([\d.]+)[\s\S]*online_softmax_f32_avx2 64 1 30 0 ([\d.]+)",
     "rmsnorm of 576 {} ns, rope of a head {} ns, online softmax of 64 scores for 30 heads {} ns (this computer); `make bench-kernels` has the boards' cycles"),
    (33, "three tiers of keys and values by age", "R Q", "tests/golden/kv_tiers.t", None, "checks: the same bits in any chunk, by age"),
    (34, "page table, keys and values that spill to the card", "R", "make -s build/tests/unit/stream/kv_pages.t && build/tests/unit/stream/kv_pages.t", None, "checks"),
    (35, "MicroLoRA, its updates and a quality gate", "R", "make -s build/tests/unit/learn/micro_lora.t build/tests/unit/learn/learner.t && build/tests/unit/learn/micro_lora.t && build/tests/unit/learn/learner.t",
     None, "checks, of them the hash of a thousand steps"),
    (36, "EWC, trajectories, patterns, policy", "R", "tests/golden/policy.t", None, "checks: what was learnt and what was kept"),
    (37, "sessions, several; saved", "R", "tests/boot/branches.t", None, "checks: branches and conversations by name"),
    (38, "generate() with fields of a request", "R", "tests/boot/protocol.t", None, "checks of protocol 2, on this computer and two boards"),
    (39, "backends as a table", "R", "for i in ref avx2; do " + RUN + " -p Hi -n 4 --temp 0 --ids --isa $i 2>&1 | grep logits; done", r"(logits: \w+)[\s\S]*(logits: \w+)", "ref {}, avx2 {}"),
    (40, "Qwen3.5: delta rule and attention", "Q", "tests/golden/hybrids.t", None, "checks on this computer and boards"),
    (41, "Q8 weights a quarter of F32; embedding streamed", "Q", f"build/host/ingot info {DEMO} | grep -i -E 'bytes|weights|MiB' | head -3", r"([\d.]+ MiB)", "{}, of 4.7 in F32"),
    (42, "integer attention", "Q", "make -s build/tests/unit/compute/attention.t && build/tests/unit/compute/attention.t", None, "checks; instructions in docs/experiments"),
    (43, "eight types of keys and values, set separately", "Q", "cat docs/KV.md tests/bench/kv/README.md | grep -c '^| [a-z_0-9]* | [0-9]'", r"(\d+)", "{} types in the tables of docs/KV.md and tests/bench/kv (`make bench-kv`)"),
    (44, "copy on write, branches, beams", "Q", "make -s build/tests/unit/session/session_sequences.t build/tests/unit/session/beams.t && build/tests/unit/session/session_sequences.t && build/tests/unit/session/beams.t",
     None, "checks: pages that lines share"),
    (45, "sanitizers, edge cases, named errors", "Q", "FUZZ_SECONDS=1 tests/fuzz/fuzz.t", None, "parsers fuzzed under ASan and UBSan; all unit tests run under them"),
    (46, "Q4_K super-blocks", "S", "make -s build/tests/unit/flash_image/quantize_k.t && build/tests/unit/flash_image/quantize_k.t", None, "checks of K formats"),
    (47, "batched prefill, weights read once", "S", f"for i in 1 2 3 4 5; do build/host/ingot bench {SMOL} -t 1 2>/dev/null; done | sort -t: -k2 -g | tail -1", r"prefill of 128 tokens: ([\d.]+) tok/s; decode of 16: ([\d.]+)", "prefill {} tok/s, decode {} (this computer, the best of 5)"),
    (48, "tiled attention; int8 keys and values without loss", "S", "grep '^| q8 ' docs/KV.md", r"\| ([\d.]+ \([^|]*\)) \| \d+ \| int8", "perplexity {} beside f16's (`make bench-kv`)"),
    (49, "rows interleaved offline; prefetch", "S", "make -s build/tests/unit/compute/gemm.t && build/tests/unit/compute/gemm.t", None, "checks of the layouts"),
    (50, "speculative decoding, lossless", "S", f"""printf '{{"prompt":"Tell me a story about a cat.","temp":0,"n":200}}\\n' | {CHAT} --spec ngram | grep done""",
     r'"decode_passes":(\d+),"guessed_tokens":(\d+),"right_guesses":(\d+)', "{} passes for the reply, {} guesses, {} right"),
]
NOT_HERE = [("CUDA and Metal kernels", "these boards have no such GPU"), ("AMX", "no board has it; the rows with AVX are about the host program"),
            ("vLLM integration", "it is a server for GPUs; `ingot serve` speaks the same API"), ("100 concurrent sequences", "memory is too small: eight sequences share a pass, the others wait"),
            ("NUMA", "no board has it")]


# A row's second command, with a real model, which is skipped by name if the model is missing.
REAL = "build/models/published/smollm2-135m.ingot"
IS_THERE = f"test -f {REAL} || {{ echo '# SKIP {REAL} is not there: make model NAME=smollm2-135m'; exit 0; }}; "
TALK = f"build/host/ingot chat {REAL} -q --temp 0"
SECOND = {
    14: ("tests/golden/recall.t", r"in other words \| (\d+) of (\d+) \| (\d+) of (\d+)", "with SmolLM2-135M {} of {} and {} of {} questions in other words"),
    18: ("tests/boot/voice_model.t", r"flite[^:]*: (\d+) of (\d+) understood", "{} of {} questions in flite's voice understood by Whisper base"),
    20: (IS_THERE + f"printf 'What is your name?\\n/reflect\\n' | {TALK} -n 24 --turns 10 --system 'Your name is Lila. You are a sailor from Oslo.'",
         r"(Lila)[\s\S]*(about \d+ million)", "SmolLM2-135M calls itself {}, and is not asked to look back: {} parameters"),
    21: (IS_THERE + f"rm -rf build/seeds-log && mkdir build/seeds-log && ln -s ../models/published/smollm2-135m.ingot build/seeds-log/m.ingot && "
         "truncate -s 1M build/seeds-log/ingot.log && printf 'Who wrote Hamlet?\\n/good\\nName a colour.\\n/bad\\n' | "
         "build/host/ingot chat build/seeds-log/m.ingot -q --temp 0 -n 12 --log on >/dev/null && build/host/ingot log build/seeds-log/ingot.log | "
         r"""grep -oE '"(ids|rating)":("[a-z]+")?' | sort | uniq -c | tr -s '\n ' ' '""",
         r'(\d+) "ids": (\d+) "rating":"bad" (\d+) "rating":"good"', "of SmolLM2-135M {} turns with their tokens, {} bad and {} good"),
    30: ("h=${INGOT_ASSETS:-../shared/models}/hf/TinyStories-656K; test -d $h || { echo \"# SKIP $h is not there\"; exit 0; }; "
         "d=build/seeds-lora; rm -rf $d && mkdir $d && build/host/ingot pack $h -o $d/m.ingot >/dev/null && truncate -s 1M $d/ingot.log && "
         "printf 'Tom has a red ball.\\n/good\\nThe cat sat on the mat.\\n/bad\\n' | build/host/ingot chat $d/m.ingot -q --temp 0 -n 24 --log on >/dev/null && "
         "build/host/ingot log $d/ingot.log > $d/turns.jsonl && ${PYTHON:-/usr/bin/python3} models/training/lora.py $h $d/turns.jsonl -o $d/out --steps 40",
         r"loss ([\d.]+ -> [\d.]+)", "TinyStories-656K on a turn called good, 40 steps: loss {}"),
    35: (IS_THERE + f"printf '/teach Who repairs the windmill? = Old Berta repairs the windmill.\\n/reset\\n"
         f"Who repairs the windmill?\\n' | {TALK} --learn on", r"^(Old Berta repairs the windmill\.)$",
         "SmolLM2-135M, taught: {}"),
    36: (IS_THERE + f"printf 'Who wrote Hamlet?\\n/good\\nName a colour.\\n/bad\\nHello.\\n/learned\\n' | {TALK} -n 12 --policy on",
         r"\((\d+ turns? judged, \d+ good and \d+ bad)", "SmolLM2-135M: {}"),
    43: (IS_THERE + f"for k in f16 q8 mixed_4b8 tiers:64,0,kivi; do build/tests/bench/ingot-kv perplexity {REAL} -q -c 256 -f docs/GLOSSARY.md --kv $k; done",
         r"perplexity ([\d.]+)[\s\S]*?perplexity ([\d.]+)[\s\S]*?perplexity ([\d.]+)[\s\S]*?perplexity ([\d.]+)", "SmolLM2-135M's perplexity: f16 {}, q8 {}, mixed_4b8 {}, tiers:64,0,kivi {}"),
}


def why_skipped(said):
    """The first reason, with paths of assets relative to the folder of assets."""
    reason = re.search(r"# SKIP (.*)", said).group(1)
    return reason.replace(os.environ.get("INGOT_ASSETS", "\0"), "INGOT_ASSETS")


def run(row):
    """(good, figure), in which good is None if the row is skipped"""
    number, _, _, command, pattern, figure = row
    try:
        done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return False, f"not through in {LIMIT} s"
    if pattern is None:
        good, bad, skipped = (len(re.findall(p, done.stdout, re.M)) for p in (r"^ok \d+(?!.*# SKIP)", r"^not ok", r"^ok.*# SKIP"))
        if done.returncode == 0 and good == 0 and bad == 0 and skipped:
            return None, "skipped: " + why_skipped(done.stdout)
        return done.returncode == 0 and good > 0 and bad == 0, f"{good} {figure}" + (f" ({skipped} skipped)" if skipped else "")
    found = re.search(pattern, done.stdout, re.M)
    if not found and "# SKIP" in done.stdout:
        return None, "skipped: " + why_skipped(done.stdout)
    if not found:
        return False, f"no figure: {(done.stdout + done.stderr)[-300:]!r}"
    return True, figure.format(*(g or "" for g in found.groups()))


def with_rows(path, lines):
    """The file's text with these rows replaced."""
    new = {line.split(" ")[1]: line for line in lines}
    with open(path, encoding="utf-8") as f:
        old = f.read().split("\n")
    return "\n".join(new.get(line.split(" ")[1], line) if re.match(r"\| \d+ \|", line) else line for line in old)


def main():
    arguments = sys.argv[1:]
    out = arguments[arguments.index("-o") + 1] if "-o" in arguments else None
    wanted = {int(a) for a in arguments if a.isdigit()}
    lines, failed = [], []
    if not os.path.exists(os.path.join(ROOT, SMOL)):
        subprocess.run(["build/host/ingot", "synth", "--shape", "smol135", "--type", "q4_0", "-o", SMOL], cwd=ROOT, check=True, capture_output=True, timeout=LIMIT)
    for row in ROWS:
        if wanted and row[0] not in wanted:
            continue
        start = time.monotonic()
        good, figure = run(row)
        failed += [row[0]] * (good is False)
        commands = [row[3]]
        if row[0] in SECOND:
            commands.append(SECOND[row[0]][0])
            also, second = run((row[0], None, None) + SECOND[row[0]])
            failed += [row[0]] * (also is False)
            good = False if also is False else good
            figure += "; " + second
        shown = [c if len(c) <= SHOWN else f"tests/seeds.py {row[0]}" for c in commands]
        command = "`, `".join(c.replace("|", "\\|") for c in dict.fromkeys(shown))
        lines.append(f"| {row[0]} | {row[1]} | {row[2]} | {'**fails**: ' if good is False else ''}{figure} | `{command}` |")
        print(f"{row[0]:2} {'ok  ' if good else 'skip' if good is None else 'FAIL'} {row[1]}: {figure} [{time.monotonic() - start:.0f} s]", flush=True)
    text = ("# What the founding documents ask for\n\nFor engineers: what the founding documents ask for, with a command and a figure each.\n\nFive documents describe the system: L (an engine in assembly and C with a memory), A (inference on CPUs with adapters), R (a runtime "
            "that learns), Q\n(compressed keys and values, Qwen3.5), S (an optimization plan). `make seeds` runs each row's command and writes this table. The figure of a test is its\n"
            "number of checks. Times were measured on the computer that wrote the table; times in an emulator are not those of a board.\n\n| # | asked for | in | figure | command |\n|---|---|---|---|---|\n" +
            "\n".join(lines) + "\n\nThese do not apply:\n\n" + "".join(f"- {what}: {why}.\n" for what, why in NOT_HERE))
    if out and wanted and os.path.exists(out):
        text = with_rows(out, lines)
    if out:
        with open(out, "w", encoding="utf-8") as f:
            f.write(text)
    if failed:
        sys.exit(f"rows that fail: {', '.join(map(str, failed))}")


main()
