/* `ingot send`: sends a file over the serial line or the network to the card of a running board. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flash_image/format/adapter.h"
#include "flash_image/format/format.h"
#include "flash_image/source/map_file.h"
#include "host/line/board_talk.h"
#include "host/cli/commands.h"
#include "host/cli/ending_signals.h"
#include "host/line/send_frames.h"
#include "host/line/send_http.h"
#include "host/args/shown_streams.h"
#include "runtime/api/api_line.h"
#include "runtime/storage/fat32_write.h"
#include "runtime/storage/storage_new.h"

enum {
    USUAL_BAUD = 115200,
    FAST_BAUD = 921600,
    SILENCE_S = 20,
    ANSWER_S = 3 /* silence after which a board without a request is given up */
};

struct arguments {
    const char *file, *to, *name, *token;
    uint32_t baud, fast;
    bool load, quiet;
};

static struct sending {
    struct arguments a;
    struct serial_line line;
    struct board_talk talk;
    struct send_frames frames;
    uint8_t *bytes;
    size_t n;
    char path[96]; /* on the card */
    bool begins;   /* the board is ready for frames */
} sending;

static volatile int stopped;

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "ingot: %s: %s\n", what, why);
    return false;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool map_it(struct sending *s)
{
    struct mapping m;
    char why[160];

    if (mapping_open(&m, s->a.file, why, sizeof why) != ERR_OK) {
        return fail(s->a.file, why);
    }
    s->bytes = m.data;
    s->n = m.bytes;
    return s->n <= UINT32_MAX || fail(s->a.file, "a file on FAT32 has 1 byte to 4 GiB");
}

static bool begins_with(const struct sending *s, const char *magic, size_t bytes)
{
    return s->n >= bytes && memcmp(s->bytes, magic, bytes) == 0;
}

/* Choose the path on the card by the file's contents or, if these do not tell, by its name. */
static bool choose_path(struct sending *s)
{
    const char *slash = strrchr(s->a.file, '/'), *folder;
    const char *name = s->a.name != NULL ? s->a.name : slash == NULL ? s->a.file : slash + 1;

    if (begins_with(s, ADAPTER_MAGIC, sizeof ADAPTER_MAGIC - 1)) {
        folder = "adapters";
    } else if (begins_with(s, INGOT_MAGIC, sizeof INGOT_MAGIC - 1)) {
        folder = "models";
    } else if (begins_with(s, "GGUF", 4)) {
        return fail(s->a.file, "a board takes .ingot files: `ingot pack` makes one of it");
    } else {
        folder = storage_new_folder(name);
        if (folder == NULL || strcmp(folder, "models") == 0) {
            return fail(s->a.file,
                        "this is not a model, an adapter, a .grammar or a preset (.txt)");
        }
    }
    if (!fat32_is_new_name(name)) {
        return fail(
            name, "a name has up to 63 letters, digits, -, _ and . of ASCII: give one with --name");
    }
    snprintf(s->path, sizeof s->path, "%s/%s", folder, name);
    return true;
}

/* ---- the board ------------------------------------------------------------------------------- */

static void take_event(void *context, const struct board_event *e)
{
    struct sending *s = context;
    const char *kind = api_json_text_of(e->root, "event");

    if (kind != NULL && strcmp(kind, "receive") == 0) {
        s->begins = true;
        s->frames.window = api_line_count(e->root, "window_bytes");
        s->frames.frame = api_line_count(e->root, "frame_bytes");
        s->frames.baud = api_line_count(e->root, "baud");
    } else if (kind != NULL && strcmp(kind, "text") == 0 && e->text != NULL) {
        printf("%s\n", name_shown(e->text));
    }
}

static bool transfer(struct sending *s)
{
    struct send_frames *f = &s->frames;

    f->line = &s->line;
    f->bytes = s->bytes;
    f->n = s->n;
    f->slow = s->a.baud;
    f->quiet = s->a.quiet;
    f->stopped = &stopped;
    if (f->frame == 0 || f->frame > TRANSFER_DATA_BYTES || f->window < f->frame) {
        return fail(s->a.to, "the board speaks another protocol: use the `ingot` of its version");
    }
    if (send_frames(f)) {
        return true;
    }
    if (!f->has_result || stopped != 0) { /* the board reports other errors */
        (void)fail(s->a.to, f->error_message);
    }
    return false;
}

static bool deliver(struct sending *s)
{
    char line[256];
    bool socket = strncmp(s->a.to, "unix:", 5) == 0 || strncmp(s->a.to, "tcp:", 4) == 0;

    snprintf(line, sizeof line, "{\"command\":\"/receive %s %zu %u\"}\n", s->path, s->n,
             socket ? 0 : (unsigned)s->a.fast);
    if (!serial_send(&s->line, line, strlen(line)) || !board_talk_wait(&s->talk, &s->begins)) {
        return false;
    }
    if (!s->begins) {
        if (!s->talk.failed) {
            (void)fail(s->a.to,
                       "the board does not accept files: its image may be older than this program");
        }
        return false;
    }
    if (!transfer(s)) {
        if (stopped !=
            0) { /* the board will answer, and the next program would take that answer for its
                    own */
            s->talk.stopped = NULL;
            s->talk.silence_s = ANSWER_S;
        }
        (void)(s->frames.has_result && board_talk_send(&s->talk, NULL));
        return false;
    }
    return board_talk_send(&s->talk, NULL) && !s->talk.failed;
}

static bool load(struct sending *s)
{
    const char *name = strchr(s->path, '/') + 1;

    if (!s->a.load || strncmp(s->path, "models/", 7) != 0) {
        return true;
    }
    if (!board_talk_ask(&s->talk, "load", name, strlen(name)) || s->talk.failed) {
        return false;
    }
    printf("(%s is loaded)\n", name_shown(name));
    return true;
}

/* Deliver the file to a board on the network. */
static int deliver_by_http(struct sending *s)
{
    static struct send_http h;
    const char *name = strchr(s->path, '/') + 1;
    bool loads = s->a.load && strncmp(s->path, "models/", 7) == 0, good;

    ending_signals_note(&stopped);
    h = (struct send_http){ .to = s->a.to,
                            .token = s->a.token != NULL ? s->a.token : getenv("INGOT_TOKEN"),
                            .path = s->path,
                            .bytes = s->bytes,
                            .n = s->n,
                            .quiet = s->a.quiet,
                            .stopped = &stopped };
    good = send_http(&h) && (!loads || send_http_load(&h, name));
    if (good && loads) {
        printf("(%s is loaded)\n", name_shown(name));
    }
    return exit_status(good || fail(s->a.to, h.error_message));
}

static int run(int argc, char **argv)
{
    struct sending *s = &sending;
    bool good, left;
    int status;

    s->a = (struct arguments){ .baud = USUAL_BAUD, .fast = FAST_BAUD };
    if (!command_line_read(&cmd_send, &s->a, argc, argv, &status)) {
        return status;
    }
    if (s->a.to == NULL) {
        return command_refuse(&cmd_send, "--to",
                              "give the board's device, such as --to /dev/ttyUSB0");
    }
    if (!map_it(s) || !choose_path(s)) {
        return EXIT_FAILED;
    }
    if (send_http_is(s->a.to)) {
        return deliver_by_http(s);
    }
    if (!serial_open(&s->line, s->a.to, s->a.baud)) {
        fprintf(stderr, "ingot: %s\n", s->line.error_message);
        return EXIT_FAILED;
    }
    ending_signals_note(&stopped);
    s->talk = (struct board_talk){ .line = &s->line,
                                   .name = s->a.to,
                                   .silence_s = SILENCE_S,
                                   .stopped = &stopped,
                                   .take = take_event,
                                   .context = s };
    good = board_talk_greet(&s->talk);
    if (good) {
        s->talk.done = s->talk.failed = false;
        good = deliver(s) && load(s);
    }
    left = (s->begins && !s->frames.has_result) || board_talk_leave(&s->talk);
    close(s->line.fd);
    return exit_status(good && left);
}

#define FIELD(member) offsetof(struct arguments, member)

static const struct command_option rows[] = {
    { .name = "--to",
      .value = "DEVICE",
      .help =
          "the board's line: a serial device, unix:PATH or tcp:HOST:PORT;\nor, on the network, http://HOST",
      .field = FIELD(to) },
    { .name = "--name",
      .value = "NAME",
      .help = "the file's name on the card (default: as it is here)",
      .field = FIELD(name) },
    { .name = "--load", .help = "load the model when it is there", .field = FIELD(load) },
    { .name = "--baud",
      .value = "RATE",
      .takes = "a rate",
      .help = "rate of the line (default 115200)",
      .set = command_take_number,
      .field = FIELD(baud) },
    { .name = "--fast",
      .value = "RATE",
      .takes = "a rate",
      .help = "the highest rate for the transfer, if board and adapter support it\n"
              "(default 921600; 0: --baud's)",
      .set = command_take_number,
      .field = FIELD(fast) },
    { .name = "--token",
      .value = "TEXT",
      .help = "token of a board on the network (default: INGOT_TOKEN in the environment)",
      .field = FIELD(token) },
    { .name = "--quiet", .letter = "-q", .help = "no progress", .field = FIELD(quiet) },
};
static const struct command_option *const send_options[] = {
    &rows[0], &rows[1], &rows[2], &rows[3], &rows[4], &rows[5], &rows[6], NULL,
};

const struct command cmd_send = {
    .name = "send",
    .operands = "FILE",
    .missing = "which file? such as model.ingot;",
    .summary = "put a model onto the card of a board, over its serial line or the network",
    .about =
        "Sends a model, an adapter, a compiled grammar or a preset to a running board, onto its\n"
        "card (FAT32). An interrupted transfer continues with the next try. The board reads the\n"
        "file back before it gives the file its name; no other file is at risk. --load, or\n"
        "/model NAME on the board, then loads it without a restart.",
    .example = "ingot send model.ingot --to /dev/ttyUSB0 --load",
    .options = send_options,
    .operand_field = offsetof(struct arguments, file),
    .run = run,
};
