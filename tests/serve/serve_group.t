#!/usr/bin/python3
"""A board on the network, in QEMU: it answers several clients in one pass over the weights. Each client gets the same reply as if it were
alone, the serial line is served between two passes, and a client that is slow or gone delays nobody else."""

import http.client
import json
import os
import re
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import ARM64, RISCV64_ANY, ROOT, WORK, Tap, card_arguments, make_card
from net_board import NetBoard, reply_of
from talk import Console, Monitor

tap = Tap()
QUESTION = "What is 7 plus 8?"
CLIENTS = ("What is 7 plus 8?", "Tell me a story about a fox.", "What is 3 plus 4?", "A boat and an owl.")
LONG_ONE = {"prompt": "Once upon a time", "max_tokens": 400, "temperature": 1.5, "seed": 3, "stream": True}
MODEL = os.path.join(ROOT, "models/demo-q8_0.ingot")


class Machine(NetBoard):
    def command(self, words, cores=1, drives=()):
        self.monitor = os.path.join(WORK, f"group-{self.board}.{os.getpid()}.qmp")
        return super().command(words, cores, list(drives) + ["-qmp", f"unix:{self.monitor},server=on,wait=off"])

    def patient(self, method, path, body=None, wait=120):
        """QEMU accepts one connection after the other, and resets those that come meanwhile."""
        for _ in range(100):
            try:
                return self.ask(method, path, body, wait)
            except ConnectionError:
                time.sleep(0.02)
        return None, "reset"

    def stats(self):
        return json.loads(self.patient("GET", "/stats")[1])

    def stream(self, slow=False, **more):
        """A connection for a long reply. A slow client reads only the first bytes; the rest of a reply of a megabyte waits, most of it in this computer's
        buffers."""
        body = {"messages": [{"role": "user", "content": CLIENTS[1]}], "max_tokens": 400, "temperature": 2, "seed": 3, "n": 8, "logprobs": True,
                "top_logprobs": 20, "stream": True} if slow else {**LONG_ONE, **more}
        text = json.dumps(body).encode()
        s = socket.socket()
        if slow:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(120)
        s.connect(("127.0.0.1", self.port))
        s.sendall(b"POST /v1/%s HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n%s" % (b"chat/completions" if slow else b"completions", len(text), text))
        s.recv(64)
        return s


def ask(net, text, **more):
    body = {"messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 60, **more}
    return net.patient("POST", "/v1/chat/completions", body)


def choices(answer):
    return [(c["message"]["content"], c["finish_reason"]) for c in json.loads(answer[1])["choices"]] if answer[0] == 200 else answer


def text_of(stream):
    events = [line[6:] for line in stream.split("\n") if line.startswith("data: ")]
    return "".join(json.loads(e)["choices"][0]["text"] for e in events if e != "[DONE]" and json.loads(e)["choices"]) if events[-1:] == ["[DONE]"] else stream


def parallel(net, asks):
    with ThreadPoolExecutor(len(asks)) as pool:
        return list(pool.map(lambda a: a(), asks))


def run(net, asks):
    """(answers, seconds, passes of the model, tokens in these passes)"""
    before, start = net.stats(), time.monotonic()
    answers = asks()
    seconds, after = time.monotonic() - start, net.stats()
    return answers, seconds, after["passes"] - before["passes"], after["pass_tokens"] - before["pass_tokens"]


def of_story(**more):
    return "/v1/chat/completions", {"messages": [{"role": "user", "content": CLIENTS[1]}], "temperature": 0, "max_tokens": 40, **more}


FIELDS = [of_story(stop=["the", "fox"]), of_story(logprobs=True, top_logprobs=3), of_story(temperature=1, seed=5, n=3), of_story(logit_bias={"300": 100}),
          of_story(temperature=0.7, seed=3, presence_penalty=1.5, frequency_penalty=1), of_story(temperature=0.7, seed=3, top_p=0.5, max_tokens=5000),
          of_story(messages=[{"role": "user", "content": "word " * 1500}]),
          ("/v1/completions", {"prompt": ["Once upon a time", "A fox"], "temperature": 1, "seed": 4, "n": 2, "max_tokens": 12}),
          ("/v1/completions", {"prompt": CLIENTS[1], "temperature": 0, "max_tokens": 30, "echo": True, "stop": [" "]}),
          ("/v1/completions", {"prompt": "Once upon a time", "temperature": 0, "logprobs": 2, "max_tokens": 30})]


def patient_answer(net, path, body):
    """If the board refuses because too many requests wait, ask again."""
    for _ in range(100):
        status, text = net.patient("POST", path, body)
        if status != 429:
            break
        time.sleep(0.1)
    return (status, re.sub(r'"bytes":(null|\[[^]]*\])', "", json.dumps(json.loads(text)["choices"], separators=(",", ":"))) if status == 200 else json.loads(text)["error"]["code"])


def tokens(answers):
    return sum(json.loads(text)["usage"]["completion_tokens"] for status, text in answers if status == 200)


def long_ones(net, n):
    """Requests whose replies are about equally long."""
    return [lambda i=i: net.patient("POST", "/v1/completions", {**LONG_ONE, "stream": False, "max_tokens": 80, "seed": 3 + i}) for i in range(n)]


def texts(answers):
    return [json.loads(text)["choices"][0]["text"] if status == 200 else (status, text) for status, text in answers]


def check_same(net, board):
    """Four clients ask one after the other, then at once."""
    asks = [lambda text=text: ask(net, text) for text in CLIENTS] + [lambda: ask(net, "Say a word.", n=2, temperature=1, seed=7, max_tokens=12)]
    alone = [a() for a in asks[:4]]
    extra = asks[4]()
    both = parallel(net, asks[:4])
    tap.ok(all(a[0] == 200 for a in alone) and [choices(a) for a in alone] == [choices(a) for a in both],
           f"{board}: four clients at once get what each gets alone", f"{alone}\n{both}")
    mixed = parallel(net, asks[3:] + [lambda: net.patient("POST", "/v1/embeddings", {"input": "a fox"})])
    tap.ok(choices(mixed[0]) == choices(alone[3]) and choices(mixed[1]) == choices(extra) and len(choices(extra)) == 2 and mixed[2][0] == 200,
           f"{board}: two replies with seeds beside another client, and an embedding", f"{mixed}\n{extra}")
    return alone


def check_many(net, board, n):
    """Long replies of n clients take fewer passes, and have the same text."""
    asks = long_ones(net, n)
    alone, t_alone, p_alone, n_alone = run(net, lambda: [a() for a in asks])
    both, t_both, p_both, n_both = run(net, lambda: parallel(net, asks))
    tap.ok(texts(alone) == texts(both) and all(a[0] == 200 for a in both), f"{board}: {n} clients at once get the long replies that each gets alone", f"{alone}\n{both}")
    tap.ok(0 < p_both < p_alone * (1.4 if n < 8 else 2.4) / n,
           f"{board}: {p_both} passes in place of {p_alone}; {tokens(both) / t_both:.1f} tokens/s for {n} clients at once, {tokens(alone) / t_alone:.1f} for one at a time",
           f"{n_alone} {n_both}")


def check_line(net, board, c, said, alone):
    """While two clients have long replies, the serial line gets the same answer as alone, and both replies go on."""
    want = text_of(net.patient("POST", "/v1/completions", LONG_ONE)[1])
    done = []
    threads = [threading.Thread(target=lambda: done.append(text_of(net.patient("POST", "/v1/completions", LONG_ONE)[1]))) for _ in range(2)]
    for t in threads:
        t.start()
    time.sleep(0.5)
    text = c.say("/reset") + c.say(QUESTION)
    early = len(done)
    for t in threads:
        t.join()
    tap.ok(said in text and early == 0, f"{board}: the line answers while two clients have long replies, and says what it says alone", f"{text}\n{done}")
    tap.ok(len(want) > 200 and done == [want, want], f"{board}: and their replies are complete", f"{want}\n{done}")
    text = c.say("/stats")
    tap.ok("15" in choices(ask(net, QUESTION))[0][0], f"{board}: and so is the next one", text)


def check_slow(net, board, alone):
    """One client reads nothing, and one leaves; the others get their answers, and afterwards all slots are free."""
    with net.stream(slow=True):
        net.stream().close()
        answers = parallel(net, [lambda text=text: ask(net, text) for text in CLIENTS[:2]])
        tap.ok([choices(a) for a in answers] == [choices(a) for a in alone[:2]], f"{board}: a slow client and one that left hold up nobody", str(answers))
    late = time.monotonic() + 60
    while net.stats()["connections"] > 2 and time.monotonic() < late:
        time.sleep(0.2)
    both = parallel(net, [lambda text=text: ask(net, text) for text in CLIENTS])
    tap.ok([choices(a) for a in both] == [choices(a) for a in alone], f"{board}: afterwards four are answered at once again", str(both))


def rest_of(s):
    """Read to the end of a connection, or of its stream."""
    seen = b""
    try:
        while (piece := s.recv(65536)):
            seen += piece
            if b"[DONE]" in seen:
                break
    except OSError:
        pass
    return seen


def check_cable(net, board, c, said):
    """The cable is pulled for two seconds while a client has a long reply."""
    want = text_of(net.patient("POST", "/v1/completions", LONG_ONE)[1])
    monitor, done = Monitor(net.monitor), []
    thread = threading.Thread(target=lambda: done.append(text_of(net.patient("POST", "/v1/completions", LONG_ONE)[1])))
    thread.start()
    time.sleep(0.3)
    pulled = monitor.do("set_link", name="lan", up=False)
    text = c.say("/reset") + c.say(QUESTION)
    early = len(done)
    time.sleep(2)
    plugged = monitor.do("set_link", name="lan", up=True)
    thread.join()
    monitor.close()
    tap.ok("return" in pulled and "return" in plugged and said in text and early == 0, f"{board}: the cable is pulled during a reply, and the line answers", text)
    tap.ok(done == [want], f"{board}: it is plugged in again, and the reply is complete", f"{done}\n{want}")


def check_model(net, board, c, alone):
    """The line runs /bench, then loads another model: a running reply ends with an error, and the next reply is as before."""
    for act, what in ((lambda: c.say("/bench"), "measures"), (lambda: c.change("demo-q4_0.ingot"), "loads a model")):
        with net.stream(n=8, prompt=[LONG_ONE["prompt"]] * 8) as s:  # 64 replies, which cannot end before act()
            act()
            seen = rest_of(s)
        tap.ok(b"send the request again" in seen, f"{board}: if the line {what}, a reply at work ends with an error", seen[-300:].decode(errors="replace"))
        if what != "measures":
            c.change("demo-q8_0.ingot")
        tap.ok(choices(ask(net, CLIENTS[1])) == choices(alone[1]), f"{board}: and the next reply is as before")


for machine in (ARM64, RISCV64_ANY):
    net, board = Machine(machine), machine.board
    if not os.path.exists(net.image):
        tap.skip(f"{board}: several clients in a pass", "lwIP's source is not there: make setup-tests, then make test-images")
        continue
    card = card_arguments(make_card(f"net-group-{board}.img", MODEL, os.path.join(ROOT, "models/demo-q4_0.ingot")))
    with Console(net, "model=demo-q8_0.ingot temp=0 n=60 ids quiet term=plain net=dhcp,open", card) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        plan = c.say("/plan")
        tap.ok("of 5 sequences" in plan, f"{board}: without together= four clients share a pass, if there is memory", plan)
        said = reply_of(c.say(QUESTION))
        alone = check_same(net, board)
        tap.ok(choices(alone[0])[0][0] == said, f"{board}: the reply is the line's", f"{alone[0]}\n{said}")
        beside = parallel(net, [lambda path=path, body=body: patient_answer(net, path, body) for path, body in FIELDS])
        check_many(net, board, 4)
        check_line(net, board, c, said, alone)
        check_slow(net, board, alone)
        check_cable(net, board, c, said)
        check_model(net, board, c, alone)
    with Console(net, "model=demo-q8_0.ingot temp=0 quiet term=plain net=dhcp,open together=8", card) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        check_many(net, board, 8)
    with Console(net, "model=demo-q8_0.ingot temp=0 n=60 quiet term=plain net=dhcp,open together=1", card) as c:
        c.expect(r"network: http://10\.0\.2\.15")
        c.prompt()
        single = [patient_answer(net, path, body) for path, body in FIELDS]
        tap.ok(single == beside and [status for status, _ in single].count(200) == len(FIELDS) - 1 and (400, "context_length_exceeded") in single,
               f"{board}: stops, scores, several replies, biases, penalties and seeds act beside other clients as alone, and a prompt that is too long is refused",
               "\n".join(f"{a}\n{b}" for a, b in zip(single, beside) if a != b))
        answers = parallel(net, [lambda text=text: ask(net, text) for text in CLIENTS])
        tap.ok([choices(a) for a in answers] == [choices(a) for a in alone] and net.stats()["passes"] == 0,
               f"{board}: with together=1 they are answered one after the other", f"{answers} {net.stats()}")

tap.done()
