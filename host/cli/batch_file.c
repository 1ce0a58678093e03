#include "host/cli/batch_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "board/host/host_board.h"
#include "runtime/wire/json_settings.h"

/* Fields that a request may have. */
static const uint64_t known = 1ull << JSON_FIELD_ID | 1ull << JSON_FIELD_PROMPT |
                              1ull << JSON_FIELD_ADAPTER | 1ull << JSON_FIELD_SYSTEM |
                              1ull << JSON_FIELD_THINK | 1ull << JSON_FIELD_STOP |
                              1ull << JSON_FIELD_N | 1ull << JSON_FIELD_TEMP |
                              1ull << JSON_FIELD_TOP_P | 1ull << JSON_FIELD_TOP_K |
                              1ull << JSON_FIELD_MIN_P | 1ull << JSON_FIELD_REPEAT |
                              1ull << JSON_FIELD_REPEAT_LAST | 1ull << JSON_FIELD_PRESENCE |
                              1ull << JSON_FIELD_FREQUENCY | 1ull << JSON_FIELD_SEED;

struct line {
    struct batch_file *file;
    const char *name;
    size_t number;
};

static bool refuse(const struct line *at, const char *why)
{
    snprintf(at->file->error_message, sizeof at->file->error_message, "%.120s, line %zu: %.240s",
             at->name, at->number, why);
    return false;
}

static void say_refused(void *context, bool refused, const char *error_message)
{
    if (refused) {
        (void)refuse(context, error_message);
    }
}

static void set_id(struct batch_request *q, const struct json_request *r)
{
    const char *id = r->values[JSON_FIELD_ID], *quote = r->id_is_text ? "\"" : "";
    size_t at = 0;

    if (id == NULL) {
        return;
    }
    at += (size_t)snprintf(q->id, sizeof q->id, "%s", quote);
    for (; *id != '\0' && at < sizeof q->id - 2;
         id++) { /* leave out characters that JSON escapes */
        if ((unsigned char)*id >= ' ' && *id != '"' && *id != '\\') {
            q->id[at++] = *id;
        }
    }
    (void)snprintf(q->id + at, sizeof q->id - at, "%s", quote);
}

/* Set the options: the request's fields override those of the command. */
static bool set_options(struct batch_request *q, struct json_request *r,
                        const struct options *defaults, struct line *at)
{
    static struct options o;
    const struct options_report report = { say_refused, at };

    o = *defaults;
    for (unsigned i = JSON_FIELD_OPTIONS; i < JSON_N_FIELDS; i++) {
        if (r->values[i] != NULL &&
            json_request_set(r, (enum json_field)i, &o, &report) != ERR_OK) {
            return false;
        }
    }
    if (r->values[JSON_FIELD_SYSTEM] != NULL) {
        q->system = r->values[JSON_FIELD_SYSTEM];
    } else if (options_given(defaults, OPTION_SYSTEM)) {
        q->system = defaults->reply.system;
    }
    q->think = o.reply.think;
    q->n = o.reply.n;
    q->n_stops = o.reply.n_stops;
    memcpy(q->stops, o.reply.stop, sizeof q->stops);
    q->sampler = o.sampler;
    if (!options_given(&o, OPTION_SEED)) {
        q->sampler.seed = board.ticks();
    }
    return true;
}

static bool read_request(struct batch_request *q, char *text, size_t bytes,
                         const struct options *defaults, struct line *at)
{
    static struct json_request r;

    json_request_read(&r, text, bytes);
    if (r.error != NULL) {
        return refuse(at, r.text);
    }
    for (unsigned i = 0; i < JSON_N_FIELDS; i++) {
        if (r.values[i] != NULL && (known >> i & 1) == 0) {
            char why[96];

            snprintf(why, sizeof why, "a request of a batch has no field %s",
                     json_field_name((enum json_field)i));
            return refuse(at, why);
        }
    }
    if (r.values[JSON_FIELD_PROMPT] == NULL) {
        return refuse(at, "the field prompt is missing");
    }
    q->prompt = r.values[JSON_FIELD_PROMPT];
    q->prompt_bytes = r.bytes[JSON_FIELD_PROMPT];
    q->adapter = r.values[JSON_FIELD_ADAPTER] != NULL ? r.values[JSON_FIELD_ADAPTER] : "";
    set_id(q, &r);
    return set_options(q, &r, defaults, at);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r")] == '\0';
}

static bool add(struct batch_file *b, char *text, size_t bytes, const struct options *defaults,
                struct line *at)
{
    struct batch_request *list = realloc(b->list, (b->n + 1) * sizeof *list);

    if (list == NULL) {
        return refuse(at, "out of memory");
    }
    b->list = list;
    memset(&list[b->n], 0, sizeof *list);
    return read_request(&list[b->n++], text, bytes, defaults, at);
}

bool batch_file_parse(struct batch_file *b, const char *name, const struct options *defaults)
{
    struct line at = { b, name, 1 };
    char *text = b->text.bytes, *end = text + b->text.n_bytes;

    for (; text < end; at.number++) {
        char *next = memchr(text, '\n', (size_t)(end - text));

        if (next == NULL) {
            next = end;
        }
        *next = '\0';
        if (!is_blank(text) && !add(b, text, (size_t)(next - text), defaults, &at)) {
            return false;
        }
        text = next + 1;
    }
    if (b->n == 0) {
        snprintf(b->error_message, sizeof b->error_message, "%.120s: holds no request", name);
    }
    return b->n != 0;
}

bool batch_file_read(struct batch_file *b, const char *path, const struct options *defaults)
{
    bool standard = strcmp(path, "-") == 0, good;
    const char *name = standard ? "standard input" : path;
    FILE *in = standard ? stdin : fopen(path, "rb");

    if (in == NULL) {
        fprintf(stderr, "ingot: %s: %s\n", path, strerror(errno));
        return false;
    }
    good = text_read(&b->text, in, name);
    if (!standard) {
        fclose(in);
    }
    if (!good) {
        return false;
    }
    good = batch_file_parse(b, name, defaults);
    if (!good) {
        fprintf(stderr, "ingot: %s\n", b->error_message);
    }
    return good;
}

void batch_file_free(struct batch_file *b)
{
    text_free(&b->text);
    free(b->list);
}
