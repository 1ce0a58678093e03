#include "runtime/app/app_receive.h"

#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/chat/chat_json.h"
#include "runtime/console/console_json.h"
#include "runtime/console/console_wire.h"
#include "runtime/storage/storage_new.h"
#include "runtime/text/format_text.h"

enum { USUAL_BAUD = 115200 };

/* ---- the line -------------------------------------------------------------------------------- */

static int wire_get(void *context, uint32_t ms)
{
    struct app *a = context;

    return console_wire_get(a->setup.console, ms);
}

static void wire_put(void *context, const uint8_t *bytes, size_t n)
{
    struct app *a = context;

    console_wire_put(a->setup.console, bytes, n);
}

static uint64_t wire_millis(void *context)
{
    const struct app *a = context;

    return console_millis(a->setup.console);
}

static uint32_t own_baud(const struct app *a)
{
    uint32_t baud = a->setup.options->line.baud;

    return baud != 0 ? baud : USUAL_BAUD;
}

static void wire_slow(void *context)
{
    struct app *a = context;

    console_wire_rate(a->setup.console, own_baud(a));
}

/* Return the highest rate that both ends support, or 0 to keep the present rate of the line. */
static uint32_t choose_baud(const struct app *a, uint32_t most)
{
    const struct platform_console *p = &a->setup.platform->console;
    uint32_t baud = 0;

    if (p->best_baud != NULL && p->set_baud != NULL && most > own_baud(a)) {
        baud = p->best_baud(p->context, most);
    }
    return baud > own_baud(a) ? baud : 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static enum err refuse(struct app *a, enum err e, const char *why)
{
    format_text(a->receive.error_message, sizeof a->receive.error_message, "%s", why);
    return e;
}

enum err app_receive_open(struct app *a, const char *path, uint64_t bytes, const struct file **file)
{
    const struct app_files *files = a->setup.files;
    struct app_receive *r = &a->receive;
    enum err e;

    format_text(r->path, sizeof r->path, "%s", path);
    r->bytes = bytes;
    r->started_ms = console_millis(a->setup.console);
    if (files->new_file == NULL) {
        return refuse(a, ERR_UNSUPPORTED, "on a computer a file is copied, not received");
    }
    if (r->replaced_model) {
        return refuse(a, ERR_BUSY,
                      "a file that arrived earlier replaced the loaded model: load it with "
                      "/model first");
    }
    e = files->new_file(files->context, path, bytes, file);
    return e == ERR_OK ? e : refuse(a, e, files->error_message(files->context));
}

/* Return true if the file would replace the loaded model. Names on a card ignore case. */
static bool is_at_work(const struct app *a, const char *path)
{
    const char *name = a->chat.session == NULL ? "" : app_model_name(a), *colon = strchr(name, ':');

    return strncmp(path, "models/", 7) == 0 &&
           fat32_compare_names(path + 7, colon == NULL ? name : colon + 1) == 0;
}

enum err app_receive_close(struct app *a)
{
    const struct app_files *files = a->setup.files;
    bool at_work = is_at_work(a, a->receive.path);
    enum err e = files->publish_file(files->context);

    if (e != ERR_OK) {
        return refuse(a, e, files->error_message(files->context));
    }
    a->receive.replaced_model |= at_work;
    return ERR_OK;
}

/* Return a description of the current file, which is complete. */
static struct app_received received(const struct app *a)
{
    const struct app_receive *r = &a->receive;
    struct app_received one = { .bytes = r->bytes,
                                .ms = console_millis(a->setup.console) - r->started_ms };

    memcpy(one.path, r->path, sizeof one.path);
    return one;
}

/* Print that a file was received; the sender sent `bytes` bytes of it. */
static void say_received(struct app *a, const struct app_received *one, uint64_t bytes)
{
    bool is_model = strncmp(one->path, "models/", 7) == 0;
    char size[FORMAT_NUMBER_BYTES];
    const char *name = strchr(one->path, '/') + 1;

    console_printf(a->setup.console, "(%s: %s in %llu.%llu s, %llu bytes/s%s%s%s)\n", one->path,
                   format_bytes(size, one->bytes), (unsigned long long)(one->ms / 1000),
                   (unsigned long long)(one->ms % 1000 / 100),
                   (unsigned long long)(bytes * 1000 / (one->ms + (one->ms == 0))),
                   is_model ? "; /model " : "", is_model ? name : "", is_model ? " loads it" : "");
}

/* ---- frames ---------------------------------------------------------------------------------- */

static const char *frames_error_message(struct app *a, enum err e)
{
    switch (e) {
    case ERR_OK: return NULL;
    case ERR_ABORTED:
        return "it was stopped: the received part is kept, and the next try continues";
    case ERR_TIMEOUT:
        return "nothing arrived for half a minute: the received part is kept, and the next try continues";
    case ERR_BAD_CHECKSUM: return "the card returned other bytes than were sent: try again";
    case ERR_RANGE: return "more bytes arrived than were announced: the file is not kept";
    default: return a->receive.error_message[0] != '\0' ? a->receive.error_message : err_text(e);
    }
}

void app_receive_frames(struct app *a, const char *path, uint64_t bytes, uint32_t baud)
{
    struct app_receive *r = &a->receive;
    struct transfer_wire wire = { a, wire_get, wire_put, wire_millis, NULL };
    const struct file *file;
    const char *error_message;
    enum err e;

    r->error_message[0] = '\0';
    if (app_receive_open(a, path, bytes, &file) != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", r->error_message);
        return;
    }
    baud = choose_baud(a, baud);
    console_event_begin(a->setup.console,
                        "'receive','bytes':%llu,'frame_bytes':%u,'window_bytes':%u,'baud':%u",
                        (unsigned long long)bytes, (unsigned)TRANSFER_DATA_BYTES,
                        (unsigned)TRANSFER_WINDOW_BYTES, (unsigned)baud);
    console_event_end(a->setup.console);
    console_wire_begin(a->setup.console, false);
    if (baud != 0) {
        wire.slow = wire_slow;
        console_wire_rate(a->setup.console, baud);
    }
    e = transfer_receive(&r->transfer, &wire, file);
    if (e == ERR_OK) {
        e = app_receive_close(a);
    }
    error_message = frames_error_message(a, e);
    if (!transfer_conclude(&r->transfer, error_message) && error_message != NULL &&
        a->setup.options->line.silence_s != 0) {
        chat_json_leave(&a->chat); /* the sender is gone, so /mode json ends */
    }
    if (baud != 0) {
        wire_slow(a);
    }
    console_wire_end(a->setup.console, a->setup.options->line.flow == FLOW_ON);
    if (error_message != NULL) {
        console_printf(a->setup.console, "error: %s: %s\n", path, error_message);
    } else {
        struct app_received one = received(a);

        say_received(a, &one, bytes - r->transfer.resumed_at);
    }
}

/* ---- YMODEM ---------------------------------------------------------------------------------- */

static enum err ymodem_open(void *context, const char *name, uint64_t bytes,
                            const struct file **file)
{
    struct app *a = context;
    const char *slash = strrchr(name, '/'), *base = slash == NULL ? name : slash + 1;
    const char *folder = a->receive.folder != NULL ? a->receive.folder : storage_new_folder(base);
    char path[RECEIVE_PATH_BYTES];

    format_text(path, sizeof path, "%s/%s", folder == NULL ? "models" : folder, base);
    if (a->receive.n_came == RECEIVE_BATCH) {
        format_text(a->receive.path, sizeof a->receive.path, "%s", path);
        return refuse(a, ERR_NO_SPACE,
                      "one batch may have 32 files: send the others in another one");
    }
    return app_receive_open(a, path, bytes, file);
}

static enum err ymodem_close(void *context)
{
    struct app *a = context;
    enum err e = app_receive_close(a);

    if (e == ERR_OK) {
        a->receive.came[a->receive.n_came++] = received(a);
        a->receive.path[0] = '\0';
    }
    return e;
}

/* Return why a transfer ended within a file. No part of this file stays on the card. */
static const char *file_error_message(const struct ymodem *y, enum err e)
{
    switch (e) {
    case ERR_TIMEOUT: return "nothing more arrived: is the sender still there?";
    case ERR_ABORTED: return y->stopped ? "stopped by Ctrl-C" : "the sender stopped";
    case ERR_RANGE: return "the sender sent more bytes than it had declared";
    case ERR_TRUNCATED: return "the sender ended before all declared bytes arrived";
    case ERR_BAD_CHECKSUM:
        return "blocks are missing, or arrived damaged ten times: check the line, or send slower";
    default: return err_text(e);
    }
}

static const char *batch_error_message(const struct ymodem *y, enum err e)
{
    if (e == ERR_TIMEOUT && y->n_files == 0) {
        return "nothing was sent: start YMODEM in the terminal program, such as `sb FILE`";
    }
    if (e == ERR_UNSUPPORTED) {
        return "the sender does not say how long the file is: use YMODEM";
    }
    return file_error_message(y, e);
}

static void say_ymodem_error_message(struct app *a, enum err e)
{
    const struct app_receive *r = &a->receive;
    const char *error_message = r->error_message;

    if (error_message[0] == '\0') {
        error_message = r->ymodem.begun ? file_error_message(&r->ymodem, e)
                                        : batch_error_message(&r->ymodem, e);
    }
    if (r->path[0] == '\0') {
        console_printf(a->setup.console, "error: %s\n", error_message);
    } else {
        console_printf(a->setup.console, "error: %s: %s\n", r->path, error_message);
    }
}

void app_receive_ymodem(struct app *a, const char *folder)
{
    struct app_receive *r = &a->receive;
    const struct transfer_wire wire = { a, wire_get, wire_put, wire_millis, NULL };
    enum err e;

    r->error_message[0] = r->path[0] = '\0';
    r->n_came = 0;
    r->folder = folder[0] != '\0' ? folder : NULL;
    console_printf(a->setup.console,
                   "(send a file by YMODEM now, such as `sb FILE`; Ctrl-C ends this)\n");
    r->ymodem.wire = &wire;
    r->ymodem.context = a;
    r->ymodem.open = ymodem_open;
    r->ymodem.close = ymodem_close;
    console_wire_begin(a->setup.console, true);
    e = ymodem_receive(&r->ymodem);
    console_wire_end(a->setup.console, a->setup.options->line.flow == FLOW_ON);
    for (unsigned i = 0; i < r->n_came; i++) {
        say_received(a, &r->came[i], r->came[i].bytes);
    }
    if (e != ERR_OK) {
        say_ymodem_error_message(a, e);
    }
}
