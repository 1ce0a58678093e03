#include "host/cli/boot_options.h"

#include <assert.h>
#include <string.h>

#include "runtime/options/options.h"

/* A heading, or an option and what it does; a sentence without its full stop. */
struct row {
    const char *heading;
    enum option option;
    const char *does;
};

static const struct row rows[] = {
    { .heading = "The conversation" },
    { NULL, OPTION_MODEL, "the model's file on the card; without it the first one by name" },
    { NULL, OPTION_PRESET,
      "the options of `presets/NAME.txt` on the card; an option that is given itself counts more" },
    { NULL, OPTION_PROMPT, "generates once and powers off, instead of a chat" },
    { NULL, OPTION_SYSTEM, "the system prompt; empty: none, not even the model's own" },
    { NULL, OPTION_THINK,
      "off asks the model not to think, where its template knows that; the other values say how thoughts are shown" },
    { NULL, OPTION_STOP, "ends a reply in front of this text" },
    { NULL, OPTION_N, "tokens of a reply" },
    { NULL, OPTION_OVERFLOW,
      "what goes when the context is full: the oldest turns, or tokens after the first ones" },
    { NULL, OPTION_TURNS, "how many of the latest turns a conversation keeps" },
    { NULL, OPTION_QUIET, "no line of figures after a reply" },
    { NULL, OPTION_GRAMMAR,
      "holds replies to choices, or to a schema that `ingot grammar` compiled ([GRAMMARS.md](GRAMMARS.md))" },
    { NULL, OPTION_BRANCHES, "conversations that `/branch` and `/retry` can keep" },
    { .heading = "How tokens are chosen" },
    { NULL, OPTION_TEMP, "temperature" },
    { NULL, OPTION_TOP_P, "the likeliest tokens that have this share together" },
    { NULL, OPTION_TOP_K, "so many of the likeliest tokens" },
    { NULL, OPTION_MIN_P, "tokens that are this likely, measured by the likeliest" },
    { NULL, OPTION_REPEAT,
      "above 1: tokens of the prompt and the reply that were there lately are less likely; `repeat_penalty` is the same" },
    { NULL, OPTION_REPEAT_LAST,
      "how many of the last tokens `repeat` looks back at; 64 unless it is given" },
    { NULL, OPTION_PRESENCE, "above 0: tokens that the reply has already are less likely" },
    { NULL, OPTION_FREQUENCY,
      "above 0: tokens are less likely, the more often the reply has them" },
    { NULL, OPTION_SEED, "of the random numbers; without it the board's clock" },
    { NULL, OPTION_BEAMS,
      "searches for the likeliest of so many replies, instead of drawing tokens; penalties count" },
    { .heading = "Model and memory" },
    { NULL, OPTION_CTX, "the context in tokens; without it the model's, at most 4096" },
    { NULL, OPTION_MEM,
      "memory for weights; what does not fit streams from the card ([STREAMING.md](STREAMING.md))" },
    { NULL, OPTION_KV, "how keys and values are kept ([KV.md](KV.md))" },
    { NULL, OPTION_TOGETHER, "sequences that one pass can compute" },
    { NULL, OPTION_EXPERTS,
      "ahead reads the experts that the next layer's router is likely to name" },
    { NULL, OPTION_PINNED, "a layer's most used experts stay in the cache" },
    { NULL, OPTION_SPEC,
      "guesses tokens from what the text repeats; auto does so where layers stream" },
    { NULL, OPTION_DRAFT, "a small model of the same vocabulary that guesses tokens" },
    { NULL, OPTION_ADAPTER, "adapters at work ([ADAPTERS.md](ADAPTERS.md))" },
    { NULL, OPTION_ADAPTERS, "memory for adapters; without it what those on the card need" },
    { .heading = "Learning" },
    { NULL, OPTION_LEARN,
      "`/good`, `/bad`, `/teach` and `/remember` change what the model says ([LEARNING.md](LEARNING.md))" },
    { NULL, OPTION_POLICY, "learns how turns are answered" },
    { NULL, OPTION_LOG, "keeps turns in `ingot.log` on the card" },
    { .heading = "Acting" },
    { NULL, OPTION_PINS,
      "GPIO lines that the model may switch and read, and no others ([ACTING.md](ACTING.md))" },
    { NULL, OPTION_SENSORS, "thermometers on I2C that it may read" },
    { NULL, OPTION_ACTIONS, "more that it may do" },
    { NULL, OPTION_DRY, "actions are printed, and no line is touched" },
    { NULL, OPTION_ACTIONS_MINUTE, "the most actions in a minute" },
    { NULL, OPTION_ACTIONS_SAID,
      "what a person must have said of a line before the model drives it" },
    { .heading = "The line and the screen" },
    { NULL, OPTION_BAUD, "the rate of the serial line; without it the firmware's" },
    { NULL, OPTION_FLOW, "off ignores XON and XOFF, for a peer that sends those bytes as data" },
    { NULL, OPTION_MODE, "json speaks requests and events in JSON lines ([SERIAL.md](SERIAL.md))" },
    { NULL, OPTION_LOCK, "until `/unlock PIN` the line only chats ([SIGNING.md](SIGNING.md))" },
    { NULL, OPTION_TERM, "plain or vt says what reads the line; auto asks it" },
    { NULL, OPTION_SCREEN, "off leaves a display as it is" },
    { NULL, OPTION_KEYBOARD, "what is printed on a USB keyboard's keys" },
    { .heading = "The machine" },
    { NULL, OPTION_CORES, "cores at work; without it all" },
    { NULL, OPTION_ISA,
      "forbids kernels above the one named: ref, neon, dotprod, i8mm, sve; rv64gc, rvv, zvfh, zvknha" },
    { NULL, OPTION_WATCHDOG, "resets a board that hangs, where it has a watchdog" },
    { NULL, OPTION_PIO,
      "a core moves the card's data instead of DMA, on boards that have the choice" },
    { NULL, OPTION_DMAEND, "for diagnosis: the DMA of cards ends at this address" },
    { NULL, OPTION_PCIE,
      "gen3 tries a Raspberry Pi 5's NVMe drive at a rate that its maker does not certify" },
    { .heading = "What is printed" },
    { NULL, OPTION_VERBOSE, "the whole plan at the start" },
    { NULL, OPTION_SELFTEST, "checks every kernel against its reference at the start" },
    { NULL, OPTION_IDS, "token ids, and a hash of the logits" },
    { NULL, OPTION_TICKS, "how far the board's counter went" },
    { NULL, OPTION_DIAG,
      "what firmware and hardware say of themselves ([BRINGUP.md](BRINGUP.md))" },
    { NULL, OPTION_TRACE, "what card and cores did, as a Chrome trace after each reply" },
};

enum { HEADINGS = 8 };
static_assert(sizeof rows / sizeof *rows == OPTION_COUNT + HEADINGS, "each option has a row");

/* A cell of a table: a bar would end it. */
static void put_cell(const char *text, FILE *to)
{
    for (; *text != '\0'; text++) {
        if (*text == '|') {
            fputc('\\', to);
        }
        fputc(*text, to);
    }
}

void boot_options_print(FILE *to)
{
    fputs(
        "# Boot options\n\n"
        "For users: the words that a board reads when it starts. `make run CMDLINE='temp=0.5 quiet'` gives them in QEMU, a card "
        "has them\nin `cmdline.txt` or `extlinux.conf` ([CARDS.md](CARDS.md)), and `/set temp 0.5` changes many of them "
        "later. An option that\ncannot be used prints the accepted values, its default is used, and the boot continues.\n\n"
        "This page is printed by `ingot help --boot-options`.\n",
        to);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].heading != NULL) {
            fprintf(to, "\n## %s\n\n| option | what it does | value |\n|---|---|---|\n",
                    rows[i].heading);
            continue;
        }
        fprintf(to, "| `%s` | %s | ", options_name(rows[i].option), rows[i].does);
        put_cell(options_accepts(rows[i].option), to);
        fputs(" |\n", to);
    }
}
