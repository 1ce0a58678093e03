#!/usr/bin/python3
"""Protocol 2 of the JSON line; serial.t tests what both protocols have. The tests: scores of tokens, tokens of a text and replies to tokens,
embeddings, conversations by name, models, figures, cancelled requests, lines with a check, and repeated events. The same requests go to a model on
this computer and to boards, and all numbers from the model are the same, character by character."""

import json
import math
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from events import Events, of, text_of
from machine import ARM64, HOST, RISCV64_ANY, ROOT, WORK, Tap, card_arguments, make_card

os.makedirs(WORK, exist_ok=True)
MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")
CARD = make_card("protocol-card.img", MODEL)
WAIT = 300
STORY = "Tell me a story about a fox."
tap = Tap()


def crc8(data):
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value << 1 ^ (0x07 if value & 0x80 else 0)) & 0xff
    return value


class Line(Events):
    """A program at a serial line, which sends requests and reads events. framed: lines are sent with a check, and every event must
    have a check."""

    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.timer = threading.Timer(WAIT, self.child.kill)
        self.timer.start()
        self.framed, self.lines = False, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.timer.cancel()
        self.child.kill()
        self.child.wait()

    def send(self, data):
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def put(self, **request):
        line = json.dumps(request).encode()
        self.send(line + (b"*%02x\n" % crc8(line) if self.framed else b"\n"))

    def event(self):
        """The next event; None if the machine is gone."""
        while True:
            line = self.child.stdout.readline().rstrip(b"\r\n")
            if line.startswith(b"{"):
                break
            if not line and self.child.poll() is not None:
                return None
        self.lines.append(line)
        if self.framed:
            assert line[-3:] == b"*%02x" % crc8(line[:-3]), line
            line = line[:-3]
        return json.loads(line)


class Checks:
    def __init__(self, name):
        self.name, self.results, self.model = name, [], {}

    def ok(self, good, what, detail=""):
        self.results.append((bool(good), f"{self.name}: {what}", detail))


def scores(c, k):
    greedy = k.ask(prompt="What is 7 plus 8?", temp=0, n=0, reset=True)
    scored = k.ask(prompt="What is 7 plus 8?", logprobs=20, reset=True)
    tokens = of(scored, "token")
    c.ok(text_of(scored) == text_of(greedy) and all(e["top_logprobs"][0]["token"] == e["id"] and
         e["top_logprobs"][0]["logprob"] == e["logprob"] <= 0 and len(e["top_logprobs"]) == 20 for e in tokens),
         "in a greedy reply's scores, the likeliest token is chosen", scored)
    c.ok(all(sum(math.exp(t["logprob"]) for t in e["top_logprobs"]) <= 1.0005 and
             sorted((-t["logprob"] for t in e["top_logprobs"])) == [-t["logprob"] for t in e["top_logprobs"]] for e in tokens),
         "scores have probabilities in falling order", tokens)
    c.ok("logprob" not in of(k.ask(prompt="Hi", reset=True, n=2), "token")[0], "the next request has no scores")
    drawn = k.ask(prompt=STORY, logprobs=0, temp=1.5, top_k=0, top_p=1, min_p=0, repeat=1.3, seed=5, n=40, reset=True)
    c.ok(min(e["logprob"] for e in of(drawn, "token") if "logprob" in e) < -2 and
         all(e["top_logprobs"] == [] for e in of(drawn, "token") if "logprob" in e), "a sampled reply has scores without other candidates", drawn)
    c.model["scores"] = [(e["id"], e.get("logprob"), e.get("top_logprobs")) for e in tokens + of(drawn, "token")]
    bad = k.ask(prompt="x", logprobs=21) + k.ask(prompt="x", logprobs=-1)
    c.ok([e["field"] for e in of(bad, "error")] == ["logprobs"] * 2, "more than 20 candidates are refused", bad)
    k.ask(temp=0, repeat=1, top_k=40, top_p=0.95, min_p=0.05, n=0)


def penalties(c, k):
    def ids(**more):
        return [e["id"] for e in of(k.ask(prompt="What is 7 plus 8?", reset=True, **more), "token") if "id" in e]
    plain = ids(temp=0, n=8)
    word = next(e["text"] for e in of(k.ask(prompt="What is 7 plus 8?", reset=True), "token") if e["text"].strip().isalpha())
    banned = ids(logit_bias=[[plain[0], False]])
    texts = [e["text"] for e in of(k.ask(prompt="What is 7 plus 8?", reset=True, logit_bias=[[word, False]]), "token")]
    c.ok(banned and plain[0] not in banned and texts and word not in texts, "a banned token does not occur, by number and by text", [plain, banned, texts])
    forced = ids(logit_bias=[[plain[1], 100]])
    c.ok(set(forced) == {plain[1]} and len(forced) == 8 and ids() == plain, "a raised token occurs, only in that reply", [forced, plain])
    both = ids(logit_bias=[[plain[1], 100], [plain[2], 100]], frequency_penalty=2, presence_penalty=2)
    c.ok(set(both) == {plain[1], plain[2]}, "penalties change which token is the likeliest", both)
    c.ok(ids(logit_bias=[[plain[1], 100], [plain[2], 100]], frequency_penalty=2, presence_penalty=2, logprobs=0) == both, "penalties change scores, too", both)
    bad = [k.ask(prompt="x", logit_bias=b) for b in ([[99999, 1]], [["", 1]], [[1, 101]], [1], [[1]], [[1, True]], [[1, 2, 3]], [[-1, 1]], [[1, 1]] * 301)]
    bad += [k.ask(prompt="x", **{f: 3}) for f in ("presence_penalty", "frequency_penalty")]
    c.ok([[e["field"] for e in of(b, "error")] for b in bad] == [["logit_bias"]] * 9 + [["presence_penalty"], ["frequency_penalty"]],
         "an invalid value is refused by its name", bad)
    k.ask(presence_penalty=0, frequency_penalty=0)
    k.ask(repeat_last_n=0, repeat=1.5)
    c.ok(ids() == plain, "a repeat penalty over no token changes nothing", plain)
    k.ask(repeat_last_n=64, repeat=1, n=0)
    c.model["penalties"] = [plain, banned, both]


def tokens(c, k):
    said = k.ask(tokenize="What is 7 plus 8? \u00e9\U0001f600")
    ids = of(said, "tokens")[0]["ids"]
    c.ok(len(ids) == of(said, "tokens")[0]["tokens"] > 8 and said[-1]["reason"] == "command", "a text becomes its tokens", said)
    text = k.ask(raw="Once upon a time", n=6)
    first = of(k.ask(tokenize="Once upon a time"), "tokens")[0]["ids"]
    n = text[-1]["prompt_tokens"]
    given = k.ask(ids=first, n=6)
    c.ok(given[-1]["prompt_tokens"] == len(first) and len(of(given, "token")) == 6 and n - len(first) in (0, 1),
         "tokens get a reply", text + given)
    if n == len(first):
        c.ok(text_of(given) == text_of(text), "the reply to tokens equals the reply to their text", given)
    again = k.ask(ids=first + [e["id"] for e in of(given, "token")][:3], n=3)
    c.ok(text_of(given).endswith(text_of(again)) and text_of(again), "generated tokens can be continued", again)
    before = k.ask(stats=True)
    bad = [k.ask(ids=v) for v in ([], [1, 99999], [1.5], [-1], ["a"], [1, [2]], [7] * 600)]
    c.ok(all(of(b, "error") and of(b, "error")[0]["field"] == "ids" for b in bad) and
         of(before, "stats")[0]["context_tokens"] == bad[-1][-1]["context_tokens"], "invalid lists change nothing", bad)
    c.model["tokens"] = [ids, text_of(given)]
    k.ask(n=0)


def embeddings(c, k):
    def of_text(text):
        e = of(k.ask(embedding=text), "embedding")
        return e[0]["values"] if e else None
    k.ask(prompt="My name is Ann.", reset=True)
    told = k.ask(prompt="What is 7 plus 8?")
    a, b, far = of_text("What is 7 plus 8?"), of_text("What is 7 plus 9?"), of_text("Tell me a story about a fox.")
    c.ok(a and len(a) == len(b) == len(far) and all(math.isfinite(x) for x in a + b + far), "embeddings", a)

    def near(x, y):
        return sum(p * q for p, q in zip(x, y)) / math.sqrt(sum(p * p for p in x) * sum(q * q for q in y))
    c.ok(near(a, b) > near(a, far) and near(a, a) > 0.9999, "embeddings of similar texts are close to each other", (near(a, b), near(a, far)))
    k.ask(command="/undo")
    c.ok(text_of(k.ask(prompt="What is 7 plus 8?")) == text_of(told), "the conversation continues after requests for embeddings")
    bad = k.ask(embedding="x " * 600)
    c.ok(of(bad, "error")[0]["field"] == "embedding" and bad[-1]["reason"] == "error", "a text longer than the context is refused", bad)
    c.model["embeddings"] = [a, b, far]


def conversations(c, k):
    one = k.ask(conversation="main", prompt="What is 3 plus 4?", reset=True)
    two = k.ask(conversation="kitchen", prompt="Hello! Who are you?")
    c.ok(two[-1]["context_tokens"] == of(two, "usage")[0]["prompt_tokens"] + two[-1]["reply_tokens"] < 40, "a new conversation is empty", two)
    back = k.ask(conversation="main", prompt="And what is 5 plus 5?")
    c.ok(back[-1]["context_tokens"] > one[-1]["context_tokens"] and back[-1]["prompt_tokens"] < one[-1]["prompt_tokens"] + 12,
         "the previous conversation continues where it was", back)
    straight = [k.ask(prompt="What is 3 plus 4?", reset=True), k.ask(prompt="And what is 5 plus 5?")]
    c.ok(text_of(straight[1]) == text_of(back) and text_of(back), "each conversation continues as if it were the only one", straight)
    full = [k.ask(conversation=f"room{i}", prompt="Hi", n=1) for i in range(6)]
    refused = [f for f in full if of(f, "error")]
    c.ok(refused and all("/drop" in of(f, "error")[0]["text"] and f[-1]["reason"] == "error" for f in refused),
         "several conversations have room", refused)
    c.ok(of(k.ask(conversation="a b", prompt="x"), "error")[0]["field"] == "conversation", "an invalid name is refused")
    k.ask(conversation="main")
    for name in ["kitchen"] + [f"room{i}" for i in range(6)]:
        k.ask(command=f"/drop {name}")


def machine(c, k):
    models = of(k.ask(models=True), "model")
    c.ok([m["model"] for m in models if m["loaded"]] == ["demo-q8_0.ingot"] and all(m["bytes"] > 100000 for m in models),
         "the models are listed", models)
    again = k.ask(load="demo-q8_0", id=1)
    c.ok([e["event"] for e in again][-2:] == ["ready", "done"], "a model is loaded", again)
    none = k.ask(load="nothing") + k.ask(load="x" * 300)
    c.ok([e["name"] for e in of(none, "error")] == ["failed", "value"] and not of(none, "ready"), "an unknown model is refused", none)
    k.ask(temp=0, prompt="Hi")
    stats = of(k.ask(stats=True), "stats")[0]
    c.ok(stats["turns"] >= 1 and 0 < stats["context_tokens"] < stats["context_limit_tokens"] == 512 and
         {m["name"] for m in stats["memory"]} >= {"weights", "kv"} and
         all(m["used_bytes"] <= m["bytes"] for m in stats["memory"]), "figures are answered", stats)
    plan = of(k.ask(plan=True), "plan")[0]
    regions = {m["name"]: m["bytes"] for m in stats["memory"]}
    parts = [plan[n] for n in ("slots", "slot_bytes", "read_bytes_per_pass", "layers_streamed")]
    c.ok(all(parts[:3]) and (parts[3] or plan["head_streamed"]) if plan["residency"] == "streamed" else parts == [0] * 4,
         "the plan says what streams", plan)
    c.ok(plan["head_pinned_percent"] < 100 if plan["head_streamed"] else plan["head_pinned_percent"] == 100, "the plan says how much of the head stays", plan)
    c.ok(plan["layers"] == 4 and 0 <= regions["weights"] - plan["weights_bytes"] < 4096 and 0 <= regions["kv"] - plan["kv_bytes"] < 4096 and
         plan["taken_bytes"] == sum(regions.values()) <= plan["memory_bytes"] and plan["file_bytes"] == os.path.getsize(MODEL),
         "the plan's parts are the memory regions", (plan, stats))
    long = k.ask(id="long", prompt="x" * 9000)
    c.ok(long[-1].get("id") == "long" and of(long, "error")[0]["name"] == "line", "the error for a line that is too long has the line's id", long)
    stop = k.ask(prompt=STORY, reset=True, stop=["nobody says this", " fox"], n=60)
    whole = k.ask(prompt=STORY, reset=True, stop=[], n=60)
    c.ok(stop[-1]["reason"] == "stop" and text_of(stop) == text_of(whole).split(" fox")[0], "a list of stop strings is accepted", stop)
    bad = k.ask(prompt="x", stop=["a", 1]) + k.ask(prompt="x", stop=list("abcde"))
    c.ok([e["field"] for e in of(bad, "error")] == ["stop"] * 2, "lists of other values, or of too many strings, are refused", bad)


def too_long(c, k):
    """A text with more tokens than the context is refused before the conversation is shortened or begun again."""
    k.ask(prompt="What is 3 plus 4?", reset=True, temp=0)
    before = k.ask(stats=True)[-1]["context_tokens"]
    long = "Aa1 " * 700
    requests = [{"prompt": long}, {"raw": long}, {"prompt": long, "reset": True}, {"prompt": long, "system": "Be brief."},
                {"messages": [{"role": "user", "content": long}]}, {"prompt": long, "conversation": "elsewhere"},
                {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}, {"role": "user", "content": long}]},
                {"prompt": "Hi", "system": "Aa1 " * 500}]
    for request in requests:
        bad = k.ask(**request)
        error = (of(bad, "error") or [{}])[0]
        counts = re.search(r"it has (\d+) tokens?, and there is room for (\d+) of 512", error.get("text", ""))
        c.ok(error.get("name") == "context" and error.get("field") in request and counts and int(counts.group(1)) > int(counts.group(2)) and
             not of(bad, "log") and bad[-1]["reason"] == "error" and bad[-1]["context_tokens"] == before,
             f"{list(request)} of more tokens than the context is refused, and the conversation stays", bad)
    after = k.ask(prompt="And what is 5 plus 5?")
    straight = [k.ask(prompt="What is 3 plus 4?", reset=True), k.ask(prompt="And what is 5 plus 5?")]
    c.ok(text_of(after) == text_of(straight[1]) and after[-1]["context_tokens"] == straight[1][-1]["context_tokens"], "the conversation continues after a refused list", after)
    left = k.ask(messages=[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": long},
                           {"role": "user", "content": "What is 3 plus 4?"}])
    c.ok(text_of(left) == text_of(straight[0]) and "are left out" in of(left, "log")[0]["text"],
         "an old turn that is too long is left out of messages", left)
    under = [{"role": "system", "content": "Answer in one short word."}, {"role": "user", "content": "Hi"}]
    counts = []
    for refused in (False, True):
        k.ask(messages=under, n=1)
        bad = refused and k.ask(messages=[{"role": "user", "content": long}])
        counts.append(k.ask(prompt="Hi", reset=True, n=1)[-1]["context_tokens"])
    k.ask(messages=under[1:], n=1)
    plain = k.ask(prompt="Hi", reset=True, n=1)[-1]["context_tokens"]
    c.ok(counts[0] == counts[1] != plain and of(bad, "error"), "refused messages leave the system prompt of earlier messages", (counts, plain, bad))


def cancelled(c, k):
    """Cancel a running request, waiting requests, and a request that does not exist."""
    k.put(id="a", prompt=STORY, reset=True, n=400, temp=1, seed=1)
    first = k.until("token")
    k.put(cancel="a", id="c")
    a, own = k.until(), k.until()
    c.ok(a[-1]["id"] == "a" and a[-1]["reason"] in ("stopped", "end") and own[-1] == {**own[-1], "id": "c", "reason": "command"},
         "the running request is cancelled by its id", first + a + own)
    k.put(id=7, prompt=STORY, reset=True, n=400)
    k.until("token")
    k.put(id=8, prompt="Hi")
    k.put(id=9, prompt="What is 7 plus 8?", reset=True, temp=0, n=0)
    k.put(cancel=8)
    k.put(cancel=True)
    ends = [k.until()[-1] for _ in range(5)]
    c.ok([(e.get("id"), e["reason"]) for e in ends[1:]] == [(8, "stopped"), (9, "end"), (None, "command"), (None, "command")] and
         ends[0]["reason"] in ("stopped", "end"), "a waiting request is cancelled, and the running one by true; the next one is not", ends)
    c.ok(k.ask(cancel="nobody")[-1]["reason"] == "command" and of(k.ask(cancel=[1]), "error"), "an unknown id cancels nothing")


def framed(c, k):
    """Lines with a check."""
    plain = k.ask(prompt="What is 7 plus 8?", reset=True, temp=0, n=0)
    refused = k.ask(hello=2, check=True, temp=-1)
    c.ok([e["event"] for e in refused] == ["error", "done"] and "seq" not in k.ask()[-1], "a request with an error does not begin lines with a check", refused)
    k.put(hello=2, check=True)
    k.framed = True
    hello = k.until()
    c.ok([e["seq"] for e in hello] == [1, 2] and hello[0]["protocol"] == 2, "events have a check and a number", hello)
    reply = k.ask(id="f", prompt="What is 7 plus 8?", reset=True)
    c.ok(text_of(reply) == text_of(plain) and [e["seq"] for e in reply] == list(range(3, 3 + len(reply))), "a request with a check gets a reply", reply)
    k.lines.clear()
    k.send(b'{"prompt":"What"}\n{"prompt":"What"}*00\n*\n{"cancel":true}*ff\n')
    bad = [k.until() for _ in range(4)]
    c.ok([e["name"] for b in bad for e in of(b, "error")] == ["check"] * 4 and all(b[-1]["reason"] == "error" for b in bad),
         "lines without a check are refused", bad)
    was = list(k.lines)
    k.lines.clear()
    more = k.ask(id=1, resend=bad[0][0]["seq"])
    c.ok([e["event"] for e in more] == ["error", "done"], "events are repeated from the first one on", more)
    rest = [e for _ in range(4) for e in k.until()]
    c.ok(k.lines[:len(was)] == was and rest[-1].get("id") == 1, "all events are repeated unchanged, and then the request's own done comes", k.lines)
    none = k.ask(resend=100000) + k.ask(resend=0) + k.ask(resend=-1)
    c.ok([e["field"] for e in of(none, "error")] == ["resend"] * 3, "events that did not exist yet are refused", none)
    for _ in range(25):
        k.ask(command="/help")
    gone = k.ask(resend=1)
    c.ok(of(gone, "error") and "no longer kept" in of(gone, "error")[0]["text"], "a conversation that was dropped is reported as no longer kept", gone)
    k.send(b"\x03")
    k.framed = False
    ready = k.until("ready")[-1]
    c.ok("seq" not in ready and text_of(k.ask(prompt="What is 7 plus 8?", reset=True)) == text_of(plain),
         "after a Ctrl-C, lines have no check", ready)
    c.ok(of(k.ask(check=True), "error")[0]["field"] == "check", "hello requests checks")


def refused_settings(k):
    """The events after each of some requests, of which all but the first are refused."""
    k.until("ready")
    requests = ({"grammar": "yes|no", "stop": "q"}, {"grammar": "red|blue", "temp": -1}, {"grammar": "red|blue", "system": "x" * 2048},
                {"grammar": "a||b", "temp": 2, "stop": ["y", "z"]}, {"grammar": "red|blue", "adapter": "none"})
    return [k.ask(**r) + k.ask(command="/grammar") + k.ask(command="/set") for r in requests]


def everything(name, command):
    c = Checks(name)
    try:
        with Line(command) as k:
            k.until("ready")
            k.ask(hello=2)
            for part in (scores, penalties, tokens, embeddings, conversations, machine, too_long, cancelled, framed):
                part(c, k)
    except (OSError, TypeError, KeyError, IndexError, ValueError, AssertionError) as error:
        c.ok(False, f"goes on ({error!r})", k.lines[-5:])
    return c


jobs = {"host": [HOST, "chat", MODEL, "--json", "-q"],
        "virt-arm64": ARM64.command("mode=json mem=900K", 2, card_arguments(CARD)),
        "virt-riscv64": RISCV64_ANY.command("mode=json", 1, card_arguments(CARD))}
with ThreadPoolExecutor(2) as pool:
    done = list(pool.map(lambda job: everything(*job), jobs.items()))
for c in done:
    for good, what, detail in c.results:
        tap.ok(good, what, detail)
with Line([*jobs["host"], "--grammar", "on", "--seed", "1"]) as k:
    kept = refused_settings(k)
for most in (7, 8):
    with Line([*jobs["host"], "--branches", str(most)]) as k:
        full = [k.ask(conversation=f"room{i}", prompt="Hi", n=1) for i in range(most + 1)][-1]
    tap.ok("no room" in of(full, "error")[0]["text"] and ("branches=8" in of(full, "error")[0]["text"]) == (most < 8),
           f"of {most} conversations, a message offers branches=8 only if there are fewer", full)
said = [[e["text"] for e in of(events, "text")] for events in kept]
tap.ok("yes|no" in said[0][0] and all(s == said[0] for s in said) and [len(of(e, "error")) for e in kept] == [0, 1, 1, 1, 1],
       "a request with an error changes neither grammar nor options", kept)
for c in done[1:]:
    for part in ("scores", "penalties", "tokens", "embeddings"):
        tap.ok(part in c.model and c.model[part] == done[0].model.get(part), f"{c.name}: {part} are the host's, to the character",
               (c.model.get(part), done[0].model.get(part)))
tap.done()
