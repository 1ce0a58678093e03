#include "runtime/api/api_upload.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/api/api.h"
#include "runtime/base/crc32c.h"
#include "runtime/text/format_text.h"

enum { RANGE_FIELD_BYTES = 64, CRC_DIGITS = 8 };

/* ---- answers ---- */

/* Answer with status 308 if the client must send the bytes from `have` on, or with 201 if the file
 * is complete. */
static void answer_state(struct api_client *k, int status, uint64_t have)
{
    char fields[RANGE_FIELD_BYTES] = "";
    struct http_answer head = { .status = status, .fields = fields };

    if (status == 308 && have != 0) {
        (void)format_text(fields, sizeof fields, "range: bytes=0-%llu\r\n",
                          (unsigned long long)(have - 1));
    }
    k->out_at = k->out_end = 0;
    k->last = true;
    k->stage = API_ANSWERS;
    k->http->held = false;
    http_connection_answer(k->http, &head);
}

static void refuse(struct api_client *k, int status, const char *message, const char *code)
{
    k->http->held = false;
    api_answer_error(k, status, message, "", code);
}

/* ---- the head ---- */

static bool is_file_path(const char *path)
{
    static const char *const folders[] = { "/models/", "/adapters/", "/grammars/", "/presets/" };

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t n = strlen(folders[i]);

        if (strncmp(path, folders[i], n) == 0 && path[n] != '\0' && strchr(path + n, '/') == NULL) {
            return strlen(path) < API_PATH_BYTES;
        }
    }
    return false;
}

/* Read the range. A request without a range sends the whole file. */
static bool read_range(struct api_client *k, const struct http_request *r)
{
    size_t bytes;
    const char *field = http_connection_field(k->http, "content-range", &bytes);

    k->range = (struct api_range){ .last = r->body_bytes - 1, .total = r->body_bytes };
    if (r->chunked || (field == NULL && r->body_bytes == 0)) {
        refuse(k, 411, "an upload has to have a Content-Length", "length");
        return false;
    }
    if (field != NULL && !api_range_read(field, bytes, &k->range)) {
        refuse(k, 400, "Content-Range has to be: bytes FIRST-LAST/TOTAL, or bytes */TOTAL",
               "range");
        return false;
    }
    if (!k->range.asks && k->range.last - k->range.first + 1 != r->body_bytes) {
        refuse(k, 400, "Content-Range and Content-Length say different lengths", "range");
        return false;
    }
    return true;
}

/* Read the CRC-32C of the whole file, as the sender states it: eight hexadecimal digits. Another
 * form is refused, because the sender relies on the comparison. */
static bool read_crc_field(struct api_client *k)
{
    size_t bytes;
    const char *field = http_connection_field(k->http, "x-crc32c", &bytes);

    k->crc = 0;
    k->has_crc = field != NULL && bytes == CRC_DIGITS;
    for (size_t i = 0; k->has_crc && i < bytes; i++) {
        char c = field[i];
        uint32_t digit = (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);

        k->has_crc = digit < 16;
        k->crc = k->crc << 4 | digit;
    }
    if (field != NULL && !k->has_crc) {
        refuse(k, 400, "X-CRC32C has to be eight hexadecimal digits", "crc");
    }
    return field == NULL || k->has_crc;
}

/* Return true if the request continues the upload that was interrupted. */
static bool goes_on(const struct api_client *k)
{
    const struct api_upload *u = &k->api->upload;

    return u->total == k->range.total && strcmp(u->path, k->path) == 0;
}

bool api_upload_head(struct api_client *k, const struct http_request *r)
{
    struct api *a = k->api;

    if (r->method != HTTP_IS_PUT || !is_file_path(r->path)) {
        return false;
    }
    if (a->setup.store.open == NULL || a->setup.token == NULL) {
        refuse(k, 403, "files need a token: start this board with token=SECRET", "closed");
        return true;
    }
    (void)format_text(k->path, sizeof k->path, "%s", r->path + 1);
    if (!read_range(k, r) || !read_crc_field(k)) {
        return true;
    }
    if (k->range.first != 0 && (!goes_on(k) || k->range.first != a->upload.at)) {
        refuse(k, 409,
               "the card has received a different number of bytes: ask for it with "
               "Content-Range: bytes */TOTAL",
               "range");
    } else if (k->range.asks) {
        answer_state(k, 308, goes_on(k) ? a->upload.at : 0);
    } else if (!api_may_wait(a)) {
        refuse(k, 429, "too many requests wait for this board: try again later", "busy");
    } else {
        k->uploads = true;
        k->arrived = false;
        k->order = ++a->n_orders;
        k->stage = API_WAITS;
    }
    return true;
}

bool api_upload_body(struct api_client *k, const char *bytes, size_t n)
{
    if (n > API_BODY_BYTES - k->body_bytes) {
        return false; /* cannot happen, because pieces are at most API_UPLOAD_ROOM */
    }
    memcpy(k->body + k->body_bytes, bytes, n);
    k->body_bytes += n;
    k->http->held = API_BODY_BYTES - k->body_bytes < API_UPLOAD_ROOM;
    return true;
}

/* ---- writing ---- */

/* Return a number that identifies the place of the file's extents. If the place changes, the file
 * lacks the bytes that came earlier. */
static uint32_t place_of(const struct file *f)
{
    const struct file_extent *extents = f->table != NULL ? f->table : f->few;
    uint32_t crc = crc32c(0, &f->device, sizeof f->device);

    return crc32c(crc, extents, f->n_extents * sizeof *extents);
}

/* Open the file. Returns NULL if the bytes of this request may be written. */
static const char *open_file(struct api *a, int *status)
{
    const struct api_client *k = a->work->client;
    const struct api_store *store = &a->setup.store;
    struct api_upload *u = &a->upload;
    const struct file *file;
    enum err e = store->open(store->context, k->path, k->range.total, &file);

    *status = e == ERR_NO_SPACE ? 507 : 400;
    if (e != ERR_OK) {
        u->path[0] = '\0';
        return store->error_message(store->context);
    }
    if (k->range.first == 0) {
        (void)format_text(u->path, sizeof u->path, "%s", k->path);
        u->total = k->range.total;
        u->at = u->ms = 0;
        u->crc = 0;
        u->place = place_of(file);
    }
    *status = 409;
    if (u->place != place_of(file) || u->at != k->range.first) {
        u->path[0] = '\0';
        return "the card was written to meanwhile: send the file from its beginning";
    }
    transfer_sink_open(&u->sink, file, u->at);
    return NULL;
}

/* Count only bytes that the sink has written: later bytes may be lost and are sent again. */
static enum err write_body(struct api *a, uint32_t *crc)
{
    struct api_client *k = a->work->client;
    struct api_upload *u = &a->upload;
    size_t at = 0;
    enum err e = ERR_OK;

    while (e == ERR_OK && at < k->body_bytes) {
        size_t n = min_size(k->body_bytes - at, sizeof u->sink.buffer - u->sink.held);

        *crc = crc32c(*crc, k->body + at, n);
        e = transfer_sink_put(&u->sink, (const uint8_t *)k->body + at, n);
        at += n;
        if (e == ERR_OK && u->sink.held == 0) {
            u->at = u->sink.at;
            u->crc = *crc;
        }
    }
    k->body_bytes = 0;
    k->http->held = false;
    return e;
}

/* Write the bytes of this request as they come. Returns ERR_OK once all are written. */
static enum err take_all(struct api *a, uint32_t *crc)
{
    struct api_client *k = a->work->client;
    const struct api_store *store = &a->setup.store;
    uint64_t heard = api_now_ms(a);
    enum err e = ERR_OK;

    while (e == ERR_OK && !(k->arrived && k->body_bytes == 0)) {
        platform_alive(&a->setup.platform->power);
        a->setup.poll(a->setup.context);
        if (api_is_gone(a) || store->stops(store->context)) {
            return ERR_ABORTED;
        }
        if (k->body_bytes != 0) {
            heard = api_now_ms(a);
            e = write_body(a, crc);
        } else if (api_now_ms(a) - heard > API_UPLOAD_SILENCE_MS) {
            return ERR_TIMEOUT;
        }
    }
    return e;
}

/* Read the bytes back from the card and compare them with those that came. */
static enum err check_file(struct api *a, uint32_t expected)
{
    struct transfer_sink *s = &a->upload.sink;
    uint32_t crc = 0;
    enum err e = ERR_OK;

    for (uint64_t at = 0; e == ERR_OK && at < s->file->bytes; at += sizeof s->buffer) {
        size_t n = (size_t)min_u64(s->file->bytes - at, sizeof s->buffer);

        e = file_read_now(&s->io, s->file, at, s->buffer,
                          (n + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES);
        crc = crc32c(crc, s->buffer, n);
        platform_alive(&a->setup.platform->power);
        a->setup.poll(a->setup.context);
    }
    if (e != ERR_OK) {
        return e;
    }
    return crc == expected ? ERR_OK : ERR_BAD_CHECKSUM;
}

static enum err finish(struct api *a, uint32_t crc)
{
    const struct api_client *k = a->work->client;
    const struct api_store *store = &a->setup.store;
    struct api_upload *u = &a->upload;
    enum err e = transfer_sink_flush(&u->sink);

    u->path[0] = '\0'; /* the upload ends here, whether it succeeded or not */
    if (e == ERR_OK && k->has_crc && k->crc != crc) {
        e = ERR_BAD_CHECKSUM;
    }
    if (e == ERR_OK) {
        e = check_file(a, crc);
    }
    if (e == ERR_OK) {
        e = store->publish(store->context);
    }
    return e;
}

static void answer_error_message(struct api *a, enum err e, bool ended)
{
    const struct api_store *store = &a->setup.store;
    struct api_client *k = a->work->client;
    const char *why = store->error_message(store->context);

    if (api_is_gone(a)) {
        return;
    }
    switch (e) {
    case ERR_ABORTED: refuse(k, 503, "stopped by somebody at the serial line", "stopped"); break;
    case ERR_TIMEOUT:
        refuse(k, 408, "no byte arrived for ten seconds: continue from where it was cut", "late");
        break;
    case ERR_BAD_CHECKSUM:
        refuse(k, 422, "the bytes on the card differ from the file's: send it again", "crc");
        break;
    default: refuse(k, 500, ended && why[0] != '\0' ? why : err_text(e), "card"); break;
    }
}

void api_upload_serve(struct api *a)
{
    struct api_client *k = a->work->client;
    const struct api_store *store = &a->setup.store;
    struct api_upload *u = &a->upload;
    uint64_t start = api_now_ms(a);
    int status;
    const char *why = open_file(a, &status);
    uint32_t crc = u->crc;
    bool ends = k->range.last + 1 == k->range.total;
    enum err e;

    if (why != NULL) {
        refuse(k, status, why, "card");
        return;
    }
    e = take_all(a, &crc);
    if (e == ERR_OK && ends) {
        e = finish(a, crc);
    }
    u->ms += api_now_ms(a) - start;
    if (e != ERR_OK) {
        answer_error_message(a, e, ends);
        return;
    }
    if (ends) {
        store->came(store->context, k->path, u->total, u->ms);
    }
    if (!api_is_gone(a)) {
        answer_state(k, ends ? 201 : 308, u->at);
    }
}
