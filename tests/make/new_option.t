#!/usr/bin/python3
"""To add an option, only its row is needed. A list with some options of each type is included like the lists of features: it gives members,
rules, defaults, entries of /set, presets and requests, flags of the Linux program with their help, and the page. More than 64 options work,
too."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from machine import BUILD, ROOT, WORK, Tap

HERE = os.path.join(WORK, "new-option")
LIST = "runtime/features/words/options.def"
tap = Tap()

ROWS = r'''
OPTION(WORD_COUNT, "word_count", feature, word_count, COUNT(1, 99), 12, SET_PRESET_JSON,
       "a count from 1 to 99, such as word_count=7",
       CONVERSATION, "words that a reply has",
       FLAG("--word-count", "N", FOR_CHAT | FOR_SERIAL, "a count from 1 to 99", "words of a reply (default 12)", .letter = "-w"))
OPTION_ALSO("count_of_words", WORD_COUNT)
OPTION(WORD_CASE, "word_case", feature, word_case, CHOICE("small large"), 0, SET_PRESET_JSON,
       "small or large", CONVERSATION, "letters of words",
       FLAG("--word-case", "HOW", FOR_CHAT, "small or large", "letters"))
OPTION(WORD_SHARE, "word_share", feature, word_share, NUMBER(0, 1), 0.25, START, "a number from 0 to 1", MODEL, "share of words", NO_FLAG)
OPTION(WORDS, "words", feature, words, FLAG(), 0, SET_PRESET, "on or off (without a value: on)", PRINTED, "counts words",
       FLAG("--words", NULL, FOR_RUN, NULL, "count words"))
OPTION(WORD_FILE, "word_file", feature, word_file, TEXT(8), 0, START, "a name of up to 7 bytes", MODEL, "a file of words", NO_FLAG)
OPTION(WORD_ROOM, "word_room", feature, word_room, SIZE(), 0, START, "a size", MODEL, "room for words", NO_FLAG)
OPTION(WORD_LIST, "word_list", feature, word_list, LIST(9, words_problem), 0, START, "words", MODEL, "words there are", NO_FLAG)
''' + "".join(f'OPTION(WORD_{i}, "word{i}", feature, word{i}, COUNT(0, {i + 1}), {i}, START, "a count", MODEL, "one more", NO_FLAG)\n' for i in range(20))

PROGRAM = r'''
#include <stdio.h>
#include <string.h>
#include "host/args/host_flags.h"
#include "runtime/app/commands_private.h"
#include "runtime/wire/json_settings.h"

const struct command *const commands[] = { NULL };
const char *words_problem(const char *text) { return strlen(text) < 9 ? NULL : "a list of words has up to 8 bytes"; }

static void say(void *context, bool refused, const char *sentence) { (void)context; printf("%s: %s\n", refused ? "refused" : "said", sentence); }
static const struct options_report report = { say, NULL };
static struct options o;

static void show(const char *args)
{
    char text[OPTIONS_VALUE_BYTES];

    options_init(&o);
    (void)options_parse(&o, args, &report);
    printf("%s = %s %s %s %d %s %llu %s %u", args, options_value_text(&o, OPTION_WORD_COUNT, text), o.feature.word_case == 1 ? "large" : "small",
           o.feature.word_share > 0.2f ? "much" : "little", o.feature.words, o.feature.word_file, (unsigned long long)o.feature.word_room, o.feature.word_list,
           (unsigned)o.feature.word19);
    for (unsigned i = OPTION_WORD_COUNT; i <= OPTION_WORD_19; i++) {
        printf("%s", options_given(&o, (enum option)i) ? "+" : options_refused(&o, (enum option)i) ? "!" : ".");
    }
    puts("");
}

int main(int argc, char **argv)
{
    static const struct command_option *const list[] = { HOST_FLAGS(CONVERSATION), HOST_FLAGS(PRINTED), NULL };
    const struct command chat = { .name = "chat", .operands = "", .about = "", .example = "", .options = list, .flags = FOR_CHAT };
    char line[] = "{\"word_count\":34,\"word_case\":\"large\"}", bad[] = "{\"word_count\":\"many\"}", none[] = "{\"word_room\":1}";
    struct options_kept kept;
    struct json_request r;
    struct option_set all = { 0 };
    int status;

    printf("%d options, %zu bytes of a set\n", OPTION_COUNT, sizeof(struct option_set));
    show("");
    show("count_of_words=7 word_case=large word_share=0 words word_file=a.txt word_room=2K word_list=one,two word19=3");
    show("word_count=100 word_case=larg word_share=2 words=maybe word_file=12345678 word_room=0 word_list=nine_byte word19=21");
    show("word_cuont=1");
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        option_set_put(&all, (enum option)i, i % 3 == 0);
    }
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        status = option_set_has(&all, (enum option)i) != (i % 3 == 0);
        if (status != 0) {
            printf("option %u is lost\n", i);
        }
    }
    options_init(&o);
    (void)options_parse_preset(&o, "word_count=5 words word_room=1K", true, &report);
    options_keep(&kept, &o);
    printf("preset: %u %d %llu\n", (unsigned)o.feature.word_count, o.feature.words, (unsigned long long)o.feature.word_room);
    json_request_read(&r, line, strlen(line));
    for (unsigned i = JSON_FIELD_OPTIONS; i < JSON_N_FIELDS; i++) {
        if (r.values[i] != NULL) {
            (void)json_request_set(&r, (enum json_field)i, &o, &report);
        }
    }
    printf("json: %u %u\n", (unsigned)o.feature.word_count, (unsigned)o.feature.word_case);
    options_put_back(&o, &kept);
    printf("back: %u %u\n", (unsigned)o.feature.word_count, (unsigned)o.feature.word_case);
    json_request_read(&r, bad, strlen(bad));
    printf("bad: %s\n", r.text);
    json_request_read(&r, none, strlen(none));
    printf("none: %s\n", r.text);
    printf("set: %s\n", COMMANDS_SETTINGS);
    command_help(&chat, stdout);
    host_flags_print_page(stdout);
    (void)argc;
    (void)argv;
    return 0;
}
'''

for folder in ("runtime/options", os.path.dirname(LIST)):
    os.makedirs(os.path.join(HERE, folder), exist_ok=True)
with open(os.path.join(ROOT, "runtime/options/options.def"), encoding="utf-8") as f:
    options = f.read()
MARK = "/* ---- lists of features"
with open(os.path.join(HERE, "runtime/options/options.def"), "w", encoding="utf-8") as f:
    f.write(options.replace(MARK, f'#include "{LIST}"\n\n{MARK}'))
with open(os.path.join(HERE, LIST), "w", encoding="utf-8") as f:
    f.write(ROWS)
with open(os.path.join(HERE, "words.h"), "w", encoding="utf-8") as f:
    f.write("const char *words_problem(const char *text);\n")
with open(os.path.join(HERE, "program.c"), "w", encoding="utf-8") as f:
    f.write(PROGRAM)

SOURCES = [f"runtime/options/{name}" for name in ("options.c", "options_rows.c", "options_parse.c")]
SOURCES += ["runtime/wire/json_request.c", "runtime/wire/json_settings.c", "runtime/app/commands_settings.c"]
SOURCES += [f"host/args/{name}" for name in ("host_flags.c", "host_args.c", "command_line.c", "command_help.c")]
compiled = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O0", "-D_GNU_SOURCE", '-DINGOT_VERSION_TEXT="0"', "-fsanitize=address,undefined",
                           "-include", os.path.join(HERE, "words.h"), "-I", HERE, "-I", ROOT, "-I", os.path.join(ROOT, "board/host"), os.path.join(HERE, "program.c"),
                           *SOURCES, os.path.join(BUILD, "asan/libingot.a"), "-lcjson", "-lm", "-lbearssl", "-pthread", "-o", os.path.join(HERE, "program")],
                          cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
tap.ok(options.count(MARK) == 1 and compiled.returncode == 0, "a list of 27 rows compiles", compiled.stderr[-3000:])
text = subprocess.run([os.path.join(HERE, "program")], capture_output=True, text=True, timeout=60, check=False).stdout if compiled.returncode == 0 else ""


def says(name, *lines):
    lost = [line for line in lines if line not in text.split("\n")]
    tap.ok(not lost, name, lost or text)


size = re.search(r"^(\d+) options, (\d+) bytes of a set$", text, re.M)
tap.ok(size and int(size[1]) > 64 and int(size[2]) == (int(size[1]) + 63) // 64 * 8, "the set grows with the list", size and size[0])
says("defaults", " = 12 small much 0  0  19" + "." * 27)
says("each type is read, by a second name, too",
     "count_of_words=7 word_case=large word_share=0 words word_file=a.txt word_room=2K word_list=one,two word19=3 = "
     "7 large little 1 a.txt 2048 one,two 3+++++++" + "." * 19 + "+")
says("what cannot be used is said and keeps its default",
     "refused: word_count=100 cannot be used: word_count takes a count from 1 to 99, such as word_count=7",
     "refused: word_case=larg cannot be used: word_case takes small or large", "refused: word_share=2 cannot be used: word_share takes a number from 0 to 1",
     "refused: words=maybe cannot be used: words takes on or off (without a value: on)", "refused: word_file of 8 bytes cannot be used: word_file takes a name of up to 7 bytes",
     "refused: word_room=0 cannot be used: word_room takes a size", "refused: word_list=nine_byte cannot be used: a list of words has up to 8 bytes",
     "refused: word19=21 cannot be used: word19 takes a count",
     "word_count=100 word_case=larg word_share=2 words=maybe word_file=12345678 word_room=0 word_list=nine_byte word19=21 = "
     "12 small much 0  0  19!!!!!!!" + "." * 19 + "!")
says("a slip of the keyboard is answered", "said: Boot argument 'word_cuont' is unknown and ignored; did you mean word_count=? docs/OPTIONS.md lists them all.")
tap.ok("is lost" not in text, "a set keeps the options beyond the 64th", text)
says("a preset sets what it may", "said: word_room= in a preset has an effect only at the start", "preset: 5 1 0")
says("a request sets what it may, and it is put back", "json: 34 1", "back: 5 0", "bad: word_count has to be a number", "none: there is no field word_room")
tap.ok(re.search(r"(?m)^set: temp, .*, word_count, word_case, words, .* or stop$", text) and "word_room" not in re.search(r"(?m)^set: .*$", text)[0],
       "/set knows the new options", text)
says("the help has the flags of the command, and no others", "  -w, --word-count N     words of a reply (default 12)", "  --word-case HOW        letters")
tap.ok("--words " not in text.split("# Boot options")[0], "/set does not know the options of another command", text)
says("so has the page", "| `word_count` | words that a reply has | a count from 1 to 99, such as word_count=7 (default 12) | `/set`, `/preset`, [JSON](SERIAL.md), `--word-count` |",
     "| `words` | counts words | on or off (without a value: on) | `/set`, `/preset`, `--words` |", "| `word_room` | room for words | a size |  |")
tap.done()
