#include "runtime/features/turn_log/turn_log.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/text/format_text.h"
#include "runtime/text/json.h"

enum {
    LINE_BYTES = TURN_LOG_BYTES - (int)sizeof(struct record_header),
    FIELDS_BYTES = 1024, /* the most bytes of the fields other than texts and ids */
    ID_BYTES = 11,       /* longest id, with its comma */
};

/* ---- a line --------------------------------------------------------------------------------- */

/* Write a field that is not a text. Such a field always fits. */
__attribute__((format(printf, 2, 3))) static void put(struct turn_log *l, const char *format, ...)
{
    char *at = (char *)l->buffer + sizeof(struct record_header) + l->n;
    va_list args;

    va_start(args, format);
    l->n += (uint32_t)format_text_args(at, LINE_BYTES - l->n, format, args);
    va_end(args);
}

/* Write one whole character, which the UTF-8 writer passes. */
static void put_escaped(void *context, const char *text, size_t bytes)
{
    struct turn_log *l = context;
    char out[JSON_ESCAPE_BYTES];
    size_t n = json_escape(out, text, bytes);

    if (l->is_cut || l->n + n > LINE_BYTES - FIELDS_BYTES) {
        l->is_cut = true;
        return;
    }
    memcpy(l->buffer + sizeof(struct record_header) + l->n, out, n);
    l->n += (uint32_t)n;
}

static void put_text(struct turn_log *l, const char *name, const char *text, size_t bytes)
{
    if (text == NULL) {
        return;
    }
    put(l, ",\"%s\":\"", name);
    utf8_writer_put(&l->utf8, text, bytes);
    utf8_writer_flush(&l->utf8);
    put(l, "\"");
}

static void begin(struct turn_log *l)
{
    l->n = 0;
    l->is_cut = false;
    put(l, "{\"n\":%llu", (unsigned long long)l->ring.sequence + 1);
}

static enum err append(struct turn_log *l)
{
    enum err e;

    put(l, "}\n");
    e = record_ring_append(&l->ring, l->buffer, l->n);
    if (e == ERR_NO_SPACE) {
        format_text(l->error_message, sizeof l->error_message,
                    "%s has no room for a turn: `make card LOG=4` makes a larger one",
                    l->ring.file->name);
    } else if (e != ERR_OK) {
        format_text(l->error_message, sizeof l->error_message,
                    "%s: cannot write at sector %llu of %s: %s", l->ring.file->name,
                    (unsigned long long)l->ring.io.failed_sector, l->ring.file->device->name,
                    block_device_reason(l->ring.file->device, e));
    }
    return e;
}

/* ---- turns ---------------------------------------------------------------------------------- */

enum err turn_log_open(struct turn_log *l, const struct file *file)
{
    enum err e;

    l->utf8.write = put_escaped;
    l->utf8.context = l;
    if (!file->device->writable) {
        format_text(l->error_message, sizeof l->error_message, "%s is read-only",
                    file->device->name);
        return ERR_UNSUPPORTED;
    }
    e = record_ring_open(&l->ring, file, l->buffer, sizeof l->buffer);
    if (e != ERR_OK) {
        format_text(l->error_message, sizeof l->error_message,
                    "%s: cannot read at sector %llu of %s: %s", file->name,
                    (unsigned long long)l->ring.io.failed_sector, file->device->name,
                    block_device_reason(file->device, e));
    }
    return e;
}

void turn_log_begin(struct turn_log *l, const struct turn_log_turn *turn)
{
    begin(l);
    l->begun = true;
    put_text(l, "model", turn->model, strlen(turn->model));
    put(l, ",\"crc\":\"%08x\"", (unsigned)turn->model_crc);
    put_text(l, "adapter", turn->adapter, turn->adapter == NULL ? 0 : strlen(turn->adapter));
    put_text(l, "system", turn->system, turn->system_bytes);
    put_text(l, "user", turn->user, turn->user_bytes);
    put(l, ",\"reply\":\"");
}

void turn_log_reply(struct turn_log *l, const char *text, size_t bytes)
{
    if (l->begun) {
        utf8_writer_put(&l->utf8, text, bytes);
    }
}

static void put_ids(struct turn_log *l, const struct turn_log_end *end)
{
    if (l->is_cut || end->n > (LINE_BYTES - FIELDS_BYTES - l->n) / ID_BYTES) {
        l->is_cut = true;
        return;
    }
    put(l, ",\"start\":%u,\"reply_at\":%u,\"end_id\":%u,\"ids\":[", (unsigned)end->start,
        (unsigned)end->reply, (unsigned)end->end_id);
    for (uint32_t i = 0; i < end->n; i++) {
        put(l, "%s%u", i == 0 ? "" : ",", (unsigned)end->ids[i]);
    }
    put(l, "]");
}

enum err turn_log_end(struct turn_log *l, const struct turn_log_end *end)
{
    enum err e;

    if (!l->begun) {
        return ERR_OK;
    }
    l->begun = false;
    utf8_writer_flush(&l->utf8);
    put(l, "\",\"end\":\"%s\"", end->end);
    put_ids(l, end);
    if (l->is_cut) {
        put(l, ",\"cut\":true");
    }
    e = append(l);
    if (e == ERR_OK) {
        l->last_turn = l->ring.sequence;
    }
    return e;
}

enum err turn_log_rate(struct turn_log *l, uint64_t turn, const char *rating)
{
    if (turn == 0) {
        return ERR_NOT_FOUND;
    }
    begin(l);
    put(l, ",\"of\":%llu,\"rating\":\"%s\"", (unsigned long long)turn, rating);
    return append(l);
}
