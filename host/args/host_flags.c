#include "host/args/host_flags.h"

#include <string.h>

#include "host/args/host_args.h"

/* ---- rows of the command line ---------------------------------------------------------------- */

/* .choices: the words of a choice, for the shell's completion. */
#define CHOICES_CHOICE(words) .choices = words,
#define CHOICES_TEXT(bytes)
#define CHOICES_SAID(bytes, length)
#define CHOICES_LIST(bytes, check)
#define CHOICES_COUNT(least, most)
#define CHOICES_LIMIT(most)
#define CHOICES_NUMBER(least, most)
#define CHOICES_SIZE()
#define CHOICES_SEED()
#define CHOICES_FLAG()
#define CHOICES_KV()
#define CHOICES_ADAPTERS()
#define CHOICES_STOP()
#define CHOICES_LOCK()

#define ROW_NO_FLAG
#define ROW_FLAG(flag, is_called, who, accepts, ...) \
    .name = flag, .value = is_called, .commands = who, .takes = accepts, .help = __VA_ARGS__

const struct command_option host_flags[OPTION_COUNT] = {
#define OPTION(id, boot_name, group, member, type, initial, where, accepts, below, does, flag) \
    [OPTION_##id] = { .word = boot_name, \
                      .heading = HEADING_##below, \
                      .set = host_args_set_word, \
                      CHOICES_##type ROW_##flag },
#include "runtime/options/options.def"
};

const struct command_option host_flags_below[HEADINGS] = {
#define OPTION(...)
#define OPTION_HEADING(id, text) \
    [HEADING_##id] = { .heading = HEADING_##id, .table = host_flags, .n_table = OPTION_COUNT },
#include "runtime/options/options.def"
};

/* ---- the page --------------------------------------------------------------------------------- */

static const char *const headings[HEADINGS] = {
#define OPTION(...)
#define OPTION_HEADING(id, text) [HEADING_##id] = text,
#include "runtime/options/options.def"
};

static const struct {
    const char *does, *initial;
} page[OPTION_COUNT] = {
#define OPTION(id, name, group, member, type, initial, where, accepts, heading, does, flag) \
    [OPTION_##id] = { does, #initial },
#include "runtime/options/options.def"
};

/* Prints a cell of a table, with bars escaped, because a bar would end it. */
static void put_cell(const char *text, FILE *to)
{
    for (; *text != '\0'; text++) {
        if (*text == '|') {
            fputc('\\', to);
        }
        fputc(*text, to);
    }
}

/* Prints the other ways to set an option, separated by commas. */
static void put_places(enum option which, FILE *to)
{
    static const struct {
        unsigned bit;
        const char *place;
    } places[] = { { OPTION_BY_SET, "`/set`" },
                   { OPTION_IN_PRESET, "`/preset`" },
                   { OPTION_IN_JSON, "[JSON](SERIAL.md)" } };
    const char *before = "";

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if ((options_where(which) & places[i].bit) != 0) {
            fprintf(to, "%s%s", before, places[i].place);
            before = ", ";
        }
    }
    if (host_flags[which].name != NULL) {
        fprintf(to, "%s`%s`", before, host_flags[which].name);
    }
}

static void put_option(enum option which, FILE *to)
{
    fprintf(to, "| `%s` | %s | ", options_name(which), page[which].does);
    put_cell(options_accepts(which), to);
    if (strcmp(page[which].initial, "0") != 0) {
        fprintf(to, " (default %s)", page[which].initial);
    }
    fputs(" | ", to);
    put_places(which, to);
    fputs(" |\n", to);
}

void host_flags_print_page(FILE *to)
{
    fputs("# Boot options\n"
          "\n"
          "For users: the words that a board reads when it starts. `make run CMDLINE='temp=0.5 "
          "quiet'` gives them in QEMU, a card has them\n"
          "in `cmdline.txt` or `extlinux.conf` ([CARDS.md](CARDS.md)), and `/set temp 0.5` changes "
          "many of them later. The last column\n"
          "says what else sets an option: commands, fields of JSON requests, and options of the "
          "Linux program. If an option cannot\n"
          "be used, its accepted values are printed, its default is used, and the boot continues.\n"
          "\n"
          "This page is printed by `ingot help --boot-options`, from the rows of "
          "`runtime/options/options.def`.\n",
          to);
    for (unsigned i = 0; i < HEADINGS; i++) {
        fprintf(to, "\n## %s\n\n| option | what it does | value | also |\n|---|---|---|---|\n",
                headings[i]);
        for (unsigned k = 0; k < OPTION_COUNT; k++) {
            if (host_flags[k].heading == i) {
                put_option((enum option)k, to);
            }
        }
    }
}
