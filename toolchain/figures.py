#!/usr/bin/python3
"""Each figure of README, the documents and CHANGELOG has a source. usage: figures.py [--list]

A figure is a number with a unit, outside of blocks that show a session. One of these must cover it:

- a row of SOURCES: the page's sentence, and the line of the tree with the same number;
- a section of docs/MEASURED.md: who measured it, when, where and with which command;
- a section or sentence of GIVEN: facts from others (a standard, a data sheet), with their origin.

Prints figures without a source, figures that contradict their source, and unused rows; exits 1 if there are any.
--list prints each figure and its source."""

import datetime
import functools
import fnmatch
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
# Lines that a suite compares with a program's output, or that `make seeds` writes.
GENERATED = {"docs/OPTIONS.md": "ingot help --boot-options (tests/make/docs.t)", "docs/SEEDS.md": "make seeds"}
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+"
UNITS = (r"%|[KMG]i?B(?:/s)?|kB|bytes?|seconds?|minutes?|hours?|ms|us|ns|s|tok/s|tokens?|instructions?|cycles|lines|times|checks|"
         r"tests|files|families|boards|requests|connections|characters|million|steps|MHz|pages|mutants|targets")
FIGURE = re.compile(rf"(?<![\w.:/#-])({NUMBER})(?: (?:to|and|or) (?:{NUMBER}))?[ -]?(?:{UNITS})(?![\w-])")
WORDS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "twelve": 12}
K, M = 1024, 1024 * 1024


def less(n):
    return lambda value: value - n


def rounded(n):
    return lambda value: round(value / n)


# Rows: (file, name of a constant or an expression with one group, factor from the source's unit to the page's unit or a function, [(page,
# sentence)]). {} stands for the number, in digits or as a word.
SOURCES = [
    ("runtime/session/speculative.c", r"REST_FIRST = (\d+)", 1, [("docs/STREAMING.md", "it pauses for {} tokens")]),
    # ---- a board on a network ----
    ("runtime/net/net.h", "NET_CONNECTIONS", 1, [("docs/LAN.md", "fixed: {} connections"), ("docs/SCALE.md", "A board has {} connections")]),
    ("runtime/net/net.h", "NET_READ_SECONDS", 1, [("docs/LAN.md", "arrive completely within {} seconds"),
                                                   ("docs/LAN.md", "bytes a second for {} seconds")]),
    ("runtime/net/net.h", "NET_PACE_BYTES", 1, [("docs/LAN.md", "takes less than {} bytes a second")]),
    ("runtime/net/net.h", "NET_WAIT_SECONDS", 1, [("docs/LAN.md", "may wait, for up to {} seconds")]),
    ("runtime/net/net_time.h", r"NET_TIME_FIRST_SECONDS =\s*(\d+)", 1, [("docs/LAN.md", "asks again after {} s")]),
    ("runtime/net/net_time.h", "NET_TIME_MOST_SECONDS", rounded(60), [("docs/LAN.md", "growing intervals up to {} minutes")]),
    ("runtime/net/net.h", "NET_IDLE_SECONDS", 60, [("docs/LAN.md", "without a request ends after {} minute")]),
    ("runtime/api/api.h", "API_BODY_BYTES", K, [("docs/LAN.md", "A body has up to {} KiB"), ("docs/LAN.md", "{} KiB for a request")]),
    ("runtime/api/api.h", "API_MEMORY_BYTES", K, [("docs/LAN.md", "may need up to {} KiB")]),
    ("runtime/api/api.h", "API_OUT_BYTES", K, [("docs/LAN.md", "{} KiB for an answer that waits")]),
    ("runtime/api/api.h", "API_WAITING", 1, [("docs/LAN.md", "at once; {} more requests may wait")]),
    ("runtime/api/api.h", "API_SLOW_MS", 1000, [("docs/LAN.md", "no byte of its answer for {} seconds")]),
    ("runtime/api/api.h", "API_SLOW_ALL_MS", 1000, [("docs/LAN.md", "makes the board wait {} seconds in all")]),
    # ---- the server ----
    ("runtime/http/http_request.h", "HTTP_HEAD_BYTES", K, [("docs/SERVE.md", "Limits: {} KiB for a head")]),
    ("host/api/serve_request.h", "SERVE_BODY_BYTES", M, [("docs/SERVE.md", "{} MiB for a body or a WebSocket message"), ("docs/SERVE.md", "{} MiB at most); 415")]),
    ("host/serve/serve_ws.c", "MESSAGES_BYTES", M, [("docs/SERVE.md", "{} MiB for all unfinished messages")]),
    ("host/serve/serve_sockets_private.h", "QUIET_MS", 1000, [("docs/SERVE.md", "{} seconds for a head and between two pieces"), ("docs/SERVE.md", "gets a ping after {} seconds")]),
    ("host/serve/serve_sockets_private.h", "BODY_MS", 60000, [("docs/SERVE.md", "{} minutes for a body or a message")]),
    ("host/serve/serve_sockets_private.h", "STALL_MS", 60000, [("docs/SERVE.md", "disconnected when it is {} minute behind")]),
    ("host/serve/serve_sockets_private.h", "CONNECTIONS_MOST", 1, [("docs/SERVE.md", "{} connections (fewer")]),
    ("host/api/serve_backend.h", "SERVE_WAITING_MOST", 1, [("docs/SERVE.md", "| 429 | {} requests wait already")]),
    ("host/api/serve_backend.h", "SERVE_BOARDS_MOST", 1, [("docs/SCALE.md", "or up to {} boards"), ("docs/SERVE.md", "Name up to {} boards")]),
    ("host/boards/serve_boards.c", "NOBODY_MS", 1000, [("docs/SERVE.md", "a request waits {} seconds for one")]),
    ("runtime/api/api_request.h", "API_CHOICES_MOST", 1, [("docs/SERVE.md", "up to {} replies, with consecutive seeds")]),
    ("runtime/session/token_scores.h", "TOKEN_SCORES_MOST", 1, [("docs/SERVE.md", "`top_logprobs` | up to {} |")]),
    ("runtime/options/options.h", "OPTIONS_STOPS", 1, [("docs/SERVE.md", "texts ({} for a board)")]),
    ("include/ingot.h", r"INGOT_STOP_BYTES = (\d+),", less(1), [("docs/SERVE.md", "for a board), each of at most {} bytes")]),
    ("runtime/session/sampler.h", "SAMPLER_BIASES_MOST", 1, [("docs/SERVE.md", "Up to {} tokens |"), ("docs/SERIAL.md", "up to {} tokens |")]),
    ("host/serve/serve_pace.h", r"SERVE_PACE_BYTES = (\d+)", 1, [("docs/SERVE.md", "reads fewer than {} bytes a second")]),
    ("runtime/http/http_request.h", r"HTTP_PATH_BYTES = (\d+),", less(1), [("docs/SERVE.md", "a path of more than {} bytes with 414")]),
    ("host/boards/serve_board.c", "LINE_LIMIT", rounded(K), [("docs/SERVE.md", "its limit ({} KiB with the whole conversation")]),
    ("runtime/net/net.h", "NET_WAIT_SECONDS", 1, [("docs/LAN.md", "twelve may wait, for up to {} seconds")]),
    # ---- the line ----
    ("runtime/console/console.h", "CONSOLE_RING_BYTES", K, [("docs/SERIAL.md", "{} KiB of them wait")]),
    ("runtime/console/console.h", r"CONSOLE_ID_BYTES = (\d+),", less(1), [("docs/SERIAL.md", "text of up to {} bytes, or a whole number")]),
    ("runtime/options/options.h", r"OPTIONS_ERROR_MESSAGE_BYTES = (\d+),", less(1), [("docs/SERIAL.md", "has to fit into {} bytes")]),
    ("runtime/console/console_frames.h", "CONSOLE_FRAMES_KEPT", K, [("docs/SERIAL.md", "from the last {} KiB")]),
    ("runtime/transfer/transfer_receive.c", "SILENCE_MS", 1000, [("runtime/transfer/README.md", "Silence of {} s ends a transfer")]),
    ("runtime/transfer/transfer_receive.c", "MEET_MS", 1000, [("runtime/transfer/README.md", "If no `p` comes for {} s, the board")]),
    ("runtime/app/commands_settings.c", r"SILENCE_LEAST = (\d+)", 1, [("docs/SERIAL.md", "for 60 seconds ({} to")]),
    ("runtime/app/commands_settings.c", r"SILENCE_MOST = (\d+)", 1, [("docs/SERIAL.md", "(5 to {}) while the board")]),
    ("runtime/options/lock_value.h", "LOCK_PIN_MOST", 1, [("docs/SIGNING.md", "Use a longer PIN (up to {} characters)")]),
    ("host/line/send_frames.c", "MEET_MS", 1000, [("runtime/transfer/README.md", "the program does so after {} s")]),
    ("host/line/cmd_send.c", "FAST_BAUD", 1, [("docs/CARDS.md", "switches to `--fast` ({})")]),
    # ---- grammars and templates ----
    ("flash_image/grammar/grammar_compile.h", "GRAMMAR_STEPS_MOST", 1000000, [("docs/GRAMMARS.md", "compiled in {} million steps at most")]),
    ("flash_image/grammar/grammar_compile.h", "GRAMMAR_STRING_MOST", 1, [("docs/GRAMMARS.md", "{} characters of a string")]),
    ("flash_image/grammar/grammar_compile.h", "GRAMMAR_ITEMS_MOST", 1, [("docs/GRAMMARS.md", "{} items,")]),
    ("flash_image/grammar/schema.h", "SCHEMA_LOOKS_MOST", 1, [("docs/GRAMMARS.md", "The schemas of a request take {} steps")]),
    ("flash_image/grammar/schema.h", "STRING_STEPS_MOST", 1000000, [("docs/GRAMMARS.md", "patterns together {} million")]),
    ("flash_image/jinja/jinja_memory.h", "JINJA_MOST_STEPS", 1, [("docs/GRAMMARS.md", "A chat template takes {} steps"), ("docs/MODELS.md", "{} steps, 500 levels")]),
    ("flash_image/jinja/jinja_memory.h", "JINJA_MOST_LOOKED", M, [("docs/GRAMMARS.md", "looks through {} MB")]),
    ("flash_image/jinja/jinja_memory.h", "JINJA_MOST_DEPTH", 1, [("docs/MODELS.md", "{} levels or 32 MB")]),
    ("flash_image/jinja/jinja_memory.h", "JINJA_MOST_MEMORY", M, [("docs/MODELS.md", "500 levels or {} MB")]),
    ("runtime/features/grammar/grammar_machine.h", r"GRAMMAR_\w+ =\s*(1 << 27)", rounded(1000000), [("docs/GRAMMARS.md", "takes {} million steps at most")]),
    ("flash_image/format/grammar.h", "INGOT_GRAMMAR_BYTES", K, [("docs/GRAMMARS.md", "A grammar has at most {} KiB")]),
    ("flash_image/grammar/schema_check.c", "STEPS_MOST", 1, [("docs/GRAMMARS.md", "check of a finished value takes {} steps")]),
    # ---- acting ----
    ("runtime/options/pin_list.h", "PINS_MOST", 1, [("docs/ACTING.md", "up to {} lines, ")]),
    # ---- learning ----
    ("runtime/features/lessons/chat_learn.h", "CHAT_LEARN_FELT", 1, [("docs/LEARNING.md", "the model makes up {} tokens of its own")]),
    ("runtime/features/lessons/chat_learn.h", r"CHAT_LEARN_ANSWER_TOKENS = (\d+)", less(2), [("docs/LEARNING.md", "An answer has at most {} tokens"), ("docs/FABRIC.md", "an answer of at most {} tokens")]),
    ("runtime/features/lessons/lessons.h", "LESSONS_LEAST_ROOM", 1, [("docs/LEARNING.md", "and {} to 2,048 tokens of answers are kept")]),
    ("runtime/features/fabric/fabric.h", "FABRIC_TEXT_BYTES", 1, [("docs/FABRIC.md", "a fact of at most {} bytes")]),
    ("runtime/features/fabric/chat_recall.h", "RECALL_NOTE_BYTES", 1, [("docs/FABRIC.md", "up to four memories, at most {} bytes with the text")]),
    ("runtime/features/reflection/reflection_grammar.h", r"REFLECTION_BODY_BYTES = (\d+)", 1, [("docs/CARDS.md", "one line of at most {} bytes")]),
    ("runtime/features/fabric/fabric.h", "FABRIC_BACKGROUND", 1, [("runtime/features/fabric/README.md", "makes up {} beginnings")]),
    ("runtime/features/turn_log/turn_log.h", "TURN_LOG_BYTES", K, [("docs/LEARNING.md", "the turn was longer than {} KB")]),
    # ---- the image and its memory ----
    ("linker/image.ld.S", r"IMAGE_FILE_MOST \((\d+ \* \d+)\)", K, [("docs/DESIGN.md", "An image's file may have {} KiB")]),
    ("linker/image.ld.S", r"IMAGE_LOAD_MOST \((\d+ \* \d+)\)", M, [("docs/DESIGN.md", "and the unpacked image {} MiB")]),
    ("linker/image.ld.S", r"IMAGE_LOAD_NETWORK \((\d+ \* \d+)\)", M, [("docs/DESIGN.md", "({} MiB with `NETWORK=yes`)")]),
    ("board/drivers/usb/usb_storage.h", "USB_STORAGE_SECTORS", lambda sectors: sectors * 512 / M, [("docs/DESIGN.md", "one command of up to {} MiB at a time"), ("board/drivers/STEPS.md", "at SuperSpeed at most {} MiB of data")]),
    ("boot/stacks.h", "STACK_GUARD", K, [("boot/README.md", "Page 0 and {} KiB below each stack")]),
    ("include/ingot.h", "INGOT_STACK_BYTES", K, [("docs/LIBRARY.md", "The calling thread needs {} KiB of stack")]),
    ("include/ingot.h", "INGOT_CORE_STACK_BYTES", K, [("docs/LIBRARY.md", "other cores {} KiB each")]),
    ("boot/stacks.h", "STACK_CORE0", K, [("docs/LIBRARY.md", "The calling thread needs {} KiB of stack")]),
    ("boot/stacks.h", "STACK_OTHER", K, [("docs/LIBRARY.md", "other cores {} KiB each")]),
    ("board/efi/efi_memory.c", r"LEAST_BYTES = (\d+) \* MIB", 1, [("docs/EFI.md", "below {} MiB Ingot stops")]),
    ("runtime/saved/kept.h", "KEPT_DISTANCE", 1, [("docs/SERVE.md", "A block has {} tokens"), ("docs/DESIGN.md", "ids, keys and values of {} tokens")]),
    ("runtime/saved/kept.h", "KEPT_MARKS_LEAST", 1, [("docs/SERVE.md", "and blocks have {} tokens")]),
    ("runtime/session/replies.h", "REPLIES_TAIL", 1, [("docs/SERVE.md", "its state {} tokens before the end of each prompt")]),
    ("host/serve/serve_kept.h", "SERVE_KEPT_MIB", 1, [("docs/SERVE.md", "MiB for these blocks (default {}, but")]),
    ("runtime/app/app_start.c", "WATCHDOG_SECONDS", 1, [("docs/HARDWARE.md", "The watchdog is set to {} s,"), ("docs/HARDWARE.md", "if core 0 does not feed it for {} s")]),
    ("runtime/storage/file.c", r"REQUEST_SECTORS = (\d+),", lambda sectors: sectors * 512 / K, [("docs/DESIGN.md", "twelve requests, each of {} KiB")]),
    ("runtime/storage/bounce.h", r"BOUNCE_HALF_SECTORS = (\d+),", lambda sectors: sectors * 512 / K, [("docs/HARDWARE.md", "two buffers of {} KiB")]),
    # ---- others ----
    ("examples/hello.c", "lines", 1, [("docs/LIBRARY.md", "with one core in {} lines")]),
    ("docs/MODELS.md", "rows below ## What can be packed", 1, [("CHANGELOG.md", "{} families, from F32")]),
    ("toolchain/structure.py", "MOST_LINES", 1, [("CONTRIBUTING.md", "stay under {}; files")]),
    ("toolchain/structure.py", "MOST_FILE", 1, [("CONTRIBUTING.md", "files stay under {} lines")]),
    ("board/led_code.h", "LED_CODE_LONG_MILLIS", 1000, [("docs/BRINGUP.md", "one long flash ({} s)")]),
    ("board/led_code.h", "LED_CODE_SHORT_MILLIS", 1000, [("docs/BRINGUP.md", "n short ones ({} s)")]),
    ("board/led_code.h", "LED_CODE_PAUSE_MILLIS", 1000, [("docs/BRINGUP.md", "{} s of dark")]),
    ("host/voice/voice_listen.c", r"QUIET = PER_SECOND \* (\d) / 10", 10, [("docs/VOICE.md", "ends after {} s of quiet")]),
    ("host/voice/voice_listen.c", r"MOST = PER_SECOND \* (\d+)", 1, [("docs/VOICE.md", "s of quiet, or {} s")]),
    ("host/voice/voice_listen.c", r"LOUD = (\d+),", lambda frames: frames * 20, [("docs/VOICE.md", "as loud as the background for {} ms")]),
    ("models/published.ini", r"\[smollm2-135m\][^[]*\nbytes = (\d+)", rounded(1000000), [("README.md", "fetched by name ({} MB)"), ("docs/MODELS.md", "SmolLM2 135M Instruct, Q4_1, {} MB")]),
    ("models/published.ini", r"\[gemma3-270m\][^[]*\nbytes = (\d+)", rounded(1000000), [("docs/MODELS.md", "Gemma 3 270M, Q4_K_M, {} MB")]),
]

# Facts from others: (page, heading or sentence, origin). A heading covers its section and those below it.
GIVEN = [
    ("docs/FABRIC.md", "questions greedily, with {} tokens", "tests/golden/recall.t asks so"),
    ("docs/HARDWARE.md", "# ", "the manuals and trees that each row names; its seconds are drivers' constants that a manual asks for"),
    ("CONTRIBUTING.md", "Functions aim at {} lines", "a rule for people"),
    ("CONTRIBUTING.md", "under {} characters, for example", "a rule for people"),
    ("docs/BRINGUP.md", "{} to 5 s on a Pi, up to 15 s with U-Boot", "seen by others with these firmwares"),
    ("docs/BRINGUP.md", "## When the line shows something odd", "the rate and the clock that the Pis' firmware sets (docs/HARDWARE.md)"),
    ("docs/BRINGUP.md", "## `diag`", "the border that the Pis' firmware names"),
    ("docs/CARDS.md", "All tokens are saved, {} bytes each", "the size of a uint32_t"),
    ("docs/SERIAL.md", "for the last {} bytes of the", "the example's own number"),
    ("docs/PORTING.md", "(a multiple of {} MiB after the firmware)", "Linux's image header for arm64 and riscv64"),
    ("docs/PORTING.md", "may be above {} GiB", "32-bit addresses"),
]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def number(word):
    """The number that a page's figure stands for."""
    return WORDS[word] if word in WORDS else float(word.replace(",", ""))


def value_of(file, what):
    """The number that a file gives: its number of lines, a constant's value, or an expression's group; None if it is
    missing."""
    text = read(file)
    if what == "lines":
        return text.count("\n")
    if what.startswith("rows below "):
        section = text.split(what.removeprefix("rows below "))[1].split("\n## ")[0]
        return len(re.findall(r"(?m)^\| \w+ \|", section)) - 1
    pattern = what if "(" in what else rf"(?:\b{what}\s*=\s*|#define {what}\s+)([^,}}/\n]+)"
    found = re.search(pattern, text)
    if not found:
        return None
    expression = re.sub(r"(?<=\d)[uUlLfF]+", "", found[1]).strip()
    return eval(expression, {"__builtins__": {}}) if re.fullmatch(r"[\d.\s*+<()-]+", expression) else None


@functools.cache
def sentence(text):
    """An expression for a sentence, which may have line breaks anywhere, with a group for each {}."""
    parts = [r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in text.split("{}")]
    return re.compile(rf"(?<![\w.])({NUMBER}|{'|'.join(WORDS)})".join(parts) if not text.startswith("{}") else
                      rf"(?<![\w.])({NUMBER}|{'|'.join(WORDS)})" + rf"({NUMBER}|{'|'.join(WORDS)})".join(parts[1:]))


def hide(match):
    return re.sub(r"[^\n]", " ", match[0])


def visible(page):
    """The page without sessions and programs; blocks of commands are kept because of their remarks."""
    text = re.sub(r"(?ms)^```(\w*)\n.*?^```", lambda block: block[0] if block[1] == "sh" else hide(block), read(page))
    return re.sub(r"`[^`\n]*`|\]\([^)\n]*\)", hide, text)


def headings(page):
    """[(offset, level, heading)], the page itself first."""
    return headings_of(read(page))


@functools.cache
def headings_of(text):
    text = re.sub(r"(?ms)^```.*?^```", hide, text)
    return [(found.start(), len(found[1]), found[0].strip()) for found in re.finditer(r"(?m)^(#+) .*$", text)] or [(0, 1, "")]


def within(page, offset, name):
    """True if an offset lies in the section of that name, or in a subsection; the title stands for the text before the first section, and "# " for
    the whole page."""
    open_now = []
    for start, level, heading in headings(page):
        if start > offset:
            break
        open_now = [(l, h) for l, h in open_now if l < level] + [(level, heading)]
    return any(heading == name and (level > 1 or len(open_now) == 1) or (name == "# " and level == 1) for level, heading in open_now)


def measured():
    """Rows of docs/MEASURED.md: (page or pattern of pages, heading, date, machine, command)."""
    rows = re.findall(r"(?m)^\| `([^`]+\.md)` \| ([^|]+?) \| ([\d-]{10}) \| (\w+) \| ([^|]+?) \|$", read("docs/MEASURED.md"))
    return [(page, heading.replace("whole page", "# "), date, machine, command) for page, heading, date, machine, command in rows]


def wrong_measured(rows):
    """The rows of docs/MEASURED.md whose section, machine, date or command is missing."""
    text = read("docs/MEASURED.md")
    machines = set(re.findall(r"(?m)^\| (\w+) \| ", text.split("## The figures")[0]))
    makefiles = "".join(map(read, ["Makefile", "tests/tests.mk", "toolchain/release.mk", "toolchain/develop.mk", "models/demo.mk", "flash_image/card/card.mk", "library/library.mk"]))
    for page, heading, date, machine, command in rows:
        if heading != "# " and "*" not in page and heading not in [h for _, _, h in headings(page)]:
            yield f"docs/MEASURED.md: {page} has no section {heading!r}"
        if machine not in machines:
            yield f"docs/MEASURED.md: {page}: machine {machine} is not described"
        if not "2026-10" < date <= str(datetime.date.today() + datetime.timedelta(days=1)):
            yield f"docs/MEASURED.md: {page}: {date} is not a day of this project"
        for target in re.findall(r"`make ([a-z-]+)", command):
            if not re.search(rf"(?m)^{target}:", makefiles):
                yield f"docs/MEASURED.md: {page}: make {target} is not a target"
        for path in re.findall(r"(?:tests|models|toolchain)/[\w./-]+\w", command):
            if not os.path.exists(os.path.join(ROOT, path)):
                yield f"docs/MEASURED.md: {page}: {path} is not there"


def check_sources(spans):
    """Contradictions; spans receives (page, start, end) of each sentence that was found."""
    for file, what, scale, places in SOURCES:
        value = value_of(file, what)
        if value is None:
            yield f"{file}: {what} is not there"
            continue
        wanted = scale(value) if callable(scale) else value / scale
        for page, text in places:
            found = list(sentence(text).finditer(read(page)))
            if not found:
                yield f"{page}: no such sentence: {text!r}"
            for match in found:
                spans.append((page, *match.span()))
                if abs(number(match[1]) - wanted) > 1e-9:
                    yield f"{page}: {' '.join(match[0].split())!r}, and {file} has {wanted:g}"


def pages():
    listed = subprocess.run(["git", "ls-files", "docs/*.md"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    return PAGES + sorted(set(listed) - {"docs/MEASURED.md"} or [os.path.relpath(p, ROOT) for p in glob.glob(ROOT + "/docs/**/*.md", recursive=True)])


def covers(page, start, spans, rows, used):
    """The statement that covers a figure at that offset, or None."""
    if page in GENERATED:
        return GENERATED[page]
    if any(p == page and a <= start < b for p, a, b in spans):
        return "a source"
    for row in rows:
        if fnmatch.fnmatchcase(page, row[0]) and within(page, start, row[1]):
            used.add(row[:2])
            return f"measured {row[2]}"
    for given_page, where, whose in GIVEN:
        if given_page == page and (within(page, start, where) if where.startswith("#") else
                                   any(m.start() <= start < m.end() for m in sentence(where).finditer(read(page)))):
            used.add((given_page, where))
            return whose
    return None


# Problems that may stay open for a while because several people write pages at the same time: rewritten sentences and new figures.
OPEN = re.compile(r"has no source: |no such sentence: |nothing needs the row of ")


def check():
    """([what is wrong], [figure and what covers it])"""
    spans, used, listed = [], set(), []
    problems = list(check_sources(spans))
    rows = measured()
    problems += wrong_measured(rows)
    for page in pages():
        text = visible(page)
        for found in FIGURE.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            by = covers(page, found.start(), spans, rows, used)
            listed.append(f"{page}:{line}: {found[0]!r}: {by}")
            if by is None:
                problems.append(f"{page}:{line}: {found[0]!r} has no source: toolchain/figures.py says how to give it one")
    problems += [f"{page}: nothing needs the row of {where!r}" for page, where in [*(row[:2] for row in rows), *(row[:2] for row in GIVEN)]
                 if (page, where) not in used]
    return problems, listed


def main():
    problems, listed = check()
    if "--list" in sys.argv:
        print("\n".join(listed))
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"{len(listed)} figures, each with a source")


if __name__ == "__main__":
    main()
