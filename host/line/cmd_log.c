/* `ingot log`: prints the turns that a board has logged (runtime/features/turn_log/turn_log.h) as
 * lines of JSON. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli/commands.h"
#include "board/host/file_device.h"
#include "flash_image/output/output_file.h"
#include "host/cli/record_list.h"
#include "host/args/shown_streams.h"
#include "runtime/storage/fat32.h"
#include "runtime/text/plural.h"

struct arguments {
    const char *source, *out;
};

struct job {
    const struct arguments *a;
    struct file_device state;
    struct block_device device;
    bool open, is_card;
    struct fat32 fs;
    struct fat32_entry entry;
    struct file_extent extents[FILE_MAX_EXTENTS];
    struct file file;
    struct file_read io;
    uint8_t *bytes;
};

static bool fail(const struct job *j, const char *why)
{
    fprintf(stderr, "ingot: %s: %s\n", j->a->source, why);
    return false;
}

/* Find the log: the source is a card with ingot.log, or the file itself. */
static bool find_file(struct job *j)
{
    const struct file_table table = { j->extents, FILE_MAX_EXTENTS };
    enum err e = file_device_open(&j->state, j->a->source, 0, &j->device);

    if (e != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", j->state.why);
        return false;
    }
    j->open = true;
    e = fat32_mount(&j->fs, &j->device, NULL);
    if (e == ERR_NO_FILESYSTEM) {
        e = file_open_device(&j->file, &j->device, j->state.bytes, NULL);
        return e == ERR_OK || fail(j, "holds nothing");
    }
    j->is_card = true;
    if (e == ERR_OK) {
        e = fat32_find(&j->fs, "ingot.log", &j->entry);
    }
    if (e == ERR_NOT_FOUND) {
        return fail(j, "the card has no ingot.log: `ingot card --log 4` makes one with it, and "
                       "log=on writes into it");
    }
    if (e == ERR_OK) {
        e = fat32_open_file(&j->fs, &j->entry, &table, &j->file);
    }
    return e == ERR_OK || fail(j, j->fs.why != NULL ? j->fs.why : err_text(e));
}

static bool read_file(struct job *j)
{
    size_t bytes = (size_t)((j->file.bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES);
    enum err e;

    if (posix_memalign((void **)&j->bytes, 64, bytes) != 0) {
        return fail(j, "out of memory");
    }
    e = file_read_now(&j->io, &j->file, 0, j->bytes, bytes);
    return e == ERR_OK || fail(j, err_text(e));
}

/* Writes the lines to the output. Returns false after printing the error. */
static bool keep_lines(const struct job *j, const struct record_list *l)
{
    const struct output_wish wish = { .path = j->a->out, .input = j->a->source };
    struct output_file out;
    char error_message[512];
    bool good = output_open(&out, &wish, error_message, sizeof error_message) == ERR_OK;

    for (size_t i = 0; good && i < l->n && out.error == 0; i++) {
        (void)output_put(&out, l->list[i].text, l->list[i].bytes);
    }
    if (good) {
        good = (out.error == 0 ? output_keep(&out, error_message, sizeof error_message)
                               : output_fail(&out, error_message, sizeof error_message)) == ERR_OK;
    }
    if (!good) {
        fprintf(stderr, "ingot: %s\n", error_message);
    }
    return good;
}

static bool write_lines(const struct job *j, const struct record_list *l)
{
    if (j->a->out != NULL) {
        return keep_lines(j, l);
    }
    for (size_t i = 0; i < l->n; i++) {
        fwrite(l->list[i].text, 1, l->list[i].bytes, stdout);
    }
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fputs("ingot: the output cannot be written\n", stderr);
        return false;
    }
    return true;
}

/* Return true if a file given in place of a card has something else than records. A log in which
 * nothing was written yet has zeros. */
static bool is_other_file(const struct job *j, const struct record_list *l)
{
    static const char magic[] = "INGOTREC";

    return !j->is_card && l->n == 0 && l->damaged == 0 && j->bytes[0] != 0 &&
           memcmp(j->bytes, magic, sizeof magic - 1) != 0;
}

static void say_how_many(const struct job *j, const struct record_list *l)
{
    if (l->n == 0) {
        fprintf(stderr, "ingot: %s: no turn is logged there yet: start the board with log=on\n",
                j->a->source);
    } else if (j->a->out != NULL) {
        printf("%s: %zu %s, %llu to %llu\n", name_shown(j->a->out), l->n,
               plural((unsigned)l->n, "line", "lines"), (unsigned long long)l->list[0].sequence,
               (unsigned long long)l->list[l->n - 1].sequence);
    }
    if (l->damaged != 0) {
        fprintf(stderr, "ingot: %zu %s incomplete, and left out\n", l->damaged,
                plural((unsigned)l->damaged, "line is", "lines are"));
    }
}

static bool print_log(const struct arguments *a)
{
    struct job *j = calloc(1, sizeof *j);
    struct record_list records = { 0 };
    bool good;

    if (j == NULL) {
        fputs("ingot: out of memory\n", stderr);
        return false;
    }
    j->a = a;
    good = find_file(j) && read_file(j) &&
           (record_list_read(&records, j->bytes, (size_t)j->file.bytes) ||
            fail(j, "out of memory")) &&
           (!is_other_file(j, &records) ||
            fail(j, "this is neither a card nor the ingot.log of one")) &&
           write_lines(j, &records);
    if (good) {
        say_how_many(j, &records);
    }
    record_list_free(&records);
    if (j->open) {
        file_device_close(&j->state);
    }
    free(j->bytes);
    free(j);
    return good;
}

static const struct command_option output = {
    .name = "--output",
    .letter = "-o",
    .value = "FILE",
    .help = "where the lines go (default: standard output)",
    .field = offsetof(struct arguments, out),
};
static const struct command_option *const options[] = { &output, NULL };

static int run(int argc, char **argv)
{
    struct arguments a = { 0 };
    int status;

    if (!command_line_read(&cmd_log, &a, argc, argv, &status)) {
        return status;
    }
    return exit_status(print_log(&a));
}

const struct command cmd_log = {
    .name = "log",
    .operands = "CARD",
    .missing = "which card? an image, a device such as /dev/sdb, or an ingot.log",
    .summary = "print the turns that a board kept with log=on",
    .about =
        "Prints a line of JSON for each turn and each rating, the oldest first. CARD is the image\n"
        "of a card, the device it is in, or the file ingot.log itself. docs/LEARNING.md has the\n"
        "fields, and models/training/lora.py trains an adapter on them.",
    .example = "ingot log /dev/sdb -o turns.jsonl",
    .options = options,
    .operand_field = offsetof(struct arguments, source),
    .run = run,
};
