#include "host/line/serial_events.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/text/json.h"
#include "runtime/text/utf8.h"

/* Fields that are used here. The fields of a reply are also the columns of the CSV. */
enum field {
    EVENT,
    TEXT,
    MS,
    PERCENT,
    BOARD,
    MODEL,
    RESULT,
    REASON,
    PROMPT_TOKENS,
    REPLY_TOKENS,
    FIRST_TOKEN_MS,
    DECODE_MS,
    PREFILL_RATE,
    DECODE_RATE,
    PASSES,
    GUESSED,
    RIGHT,
    STREAMED,
    STREAMED_PER_PASS,
    PLANNED_PER_PASS,
    CARD_RATE,
    STALLED,
    RETRIES,
    EXPERTS_THERE,
    EXPERT_BYTES,
    EXPERT_STALLS,
    TEMPERATURE,
    CONTEXT,
    N_FIELDS,
    FIRST_COLUMN = REASON
};

static const char *const names[N_FIELDS] = {
    "event",
    "text",
    "ms",
    "percent",
    "board",
    "model",
    "result",
    "reason",
    "prompt_tokens",
    "reply_tokens",
    "first_token_ms",
    "decode_ms",
    "prefill_tokens_per_s",
    "decode_tokens_per_s",
    "decode_passes",
    "guessed_tokens",
    "right_guesses",
    "streamed_bytes",
    "streamed_bytes_per_pass",
    "planned_bytes_per_pass",
    "card_mb_per_s",
    "stalled_percent",
    "card_retries",
    "experts_in_cache_percent",
    "expert_bytes",
    "expert_stalls",
    "temperature_c",
    "context_tokens",
};

/* Values of an event as text; NULL: absent or null. */
struct event {
    const char *values[N_FIELDS];
};

/* A field's text, or `none` if it is absent. */
static const char *field_or(const struct event *e, enum field which, const char *none)
{
    return e->values[which] != NULL ? e->values[which] : none;
}

static const char *value_of(const struct json_value *v)
{
    switch (v->kind) {
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    default: return v->text;
    }
}

static bool read_event(struct event *e, char *line, size_t bytes)
{
    struct json j;
    struct json_value v;

    memset(e, 0, sizeof *e);
    json_open(&j, line, bytes);
    while (json_member(&j, &v) != JSON_END) {
        if (v.kind == JSON_BAD) {
            return false;
        }
        for (unsigned i = 0; i < N_FIELDS; i++) {
            if (v.kind != JSON_NULL && strcmp(names[i], v.key) == 0) {
                e->values[i] = value_of(&v);
            }
        }
    }
    return e->values[EVENT] != NULL;
}

enum { ROW_BYTES = 1 << 16 };

/* ---- the CSV (RFC 4180) -------------------------------------------------------------------- */

bool serial_csv_open(struct serial_events *e, const char *path)
{
    char error_message[512];
    bool is_new;

    if (output_open_rows(&e->file, path, &is_new, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    e->csv = output_stream(&e->file);
    if (e->csv == NULL) {
        output_drop(&e->file);
        fprintf(stderr, "ingot: out of memory\n");
        return false;
    }
    (void)setvbuf(e->csv, NULL, _IOFBF, ROW_BYTES); /* each row is written at once */
    if (!is_new) {
        return true;
    }
    fprintf(e->csv, "time,board,model");
    for (unsigned i = FIRST_COLUMN; i < N_FIELDS; i++) {
        fprintf(e->csv, ",%s", names[i]);
    }
    fprintf(e->csv, "\n");
    fflush(e->csv);
    return true;
}

bool serial_csv_close(struct serial_events *e)
{
    char error_message[512];

    if (e->csv == NULL) {
        return true;
    }
    e->csv = NULL;
    if (output_keep(&e->file, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    return true;
}

static void write_quoted(FILE *csv, const char *text)
{
    fputc('"', csv);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', csv);
        }
        fputc(*text, csv);
    }
    fputc('"', csv);
}

static void write_field(FILE *csv, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] != '\0') {
        write_quoted(csv, text);
    } else {
        fputs(text, csv);
    }
}

static void write_row(const struct serial_events *e, const struct event *event)
{
    time_t now = time(NULL);
    struct tm utc;
    char text[32];

    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    fprintf(e->csv, "%s,", text);
    write_field(e->csv, e->board);
    fputc(',', e->csv);
    write_field(e->csv, e->model);
    for (unsigned i = FIRST_COLUMN; i < N_FIELDS; i++) {
        fputc(',', e->csv);
        write_field(e->csv, field_or(event, (enum field)i, ""));
    }
    fputc('\n', e->csv);
    fflush(e->csv);
}

enum { PROGRESS_LABEL_BYTES = 50 };

/* ---- on the terminal ----------------------------------------------------------------------- */

/* Overwrite the progress with spaces, so that nothing of it remains. */
static void erase_progress(struct serial_events *e)
{
    if (e->progress_width != 0) {
        fprintf(stderr, "\r%*s", e->progress_width, "");
        fputs("\r", stderr);
    }
    e->progress_width = 0;
}

static void end_line(struct serial_events *e)
{
    erase_progress(e);
    if (e->in_line) {
        putchar('\n');
        fflush(stdout);
    }
    e->in_line = false;
}

static void print_figure(const struct event *event, enum field which, const char *before,
                         const char *unit)
{
    if (event->values[which] != NULL) {
        fprintf(stderr, "%s%s%s", before, event->values[which], unit);
    }
}

static void print_stats(const struct event *event)
{
    const char *streamed = event->values[STREAMED];
    bool one = strcmp(field_or(event, REPLY_TOKENS, ""), "1") == 0;

    print_figure(event, PROMPT_TOKENS, "[", " prompt");
    print_figure(event, REPLY_TOKENS, " + ", one ? " reply token" : " reply tokens");
    print_figure(event, PREFILL_RATE, ", prefill ", " tok/s");
    print_figure(event, DECODE_RATE, ", decode ", " tok/s");
    print_figure(event, FIRST_TOKEN_MS, ", first token ", " ms");
    if (streamed != NULL && strcmp(streamed, "0") != 0) {
        print_figure(event, STREAMED, ", read ", " bytes");
        print_figure(event, CARD_RATE, " at ", " MB/s");
        print_figure(event, STALLED, ", stalled ", " % of the time");
    }
    print_figure(event, TEMPERATURE, ", ", " C");
    print_figure(event, REASON, ", ", "]\n");
}

static enum serial_kind take_done(struct serial_events *e, const struct event *event)
{
    bool reply = event->values[REPLY_TOKENS] != NULL;

    end_line(e);
    if (reply && !e->quiet) {
        print_stats(event);
    }
    if (reply && e->csv != NULL) {
        write_row(e, event);
    }
    return SERIAL_DONE;
}

static enum serial_kind take_ready(struct serial_events *e, const struct event *event)
{
    snprintf(e->board, sizeof e->board, "%s", field_or(event, BOARD, ""));
    snprintf(e->model, sizeof e->model, "%s", field_or(event, MODEL, ""));
    return SERIAL_READY;
}

static void show_progress(struct serial_events *e, const struct event *event)
{
    if (e->quiet || !isatty(2)) {
        return;
    }
    erase_progress(e);
    e->progress_width = fprintf(stderr, "\r%.*s %.4s %%", PROGRESS_LABEL_BYTES, event->values[TEXT],
                                field_or(event, PERCENT, "?")) -
                        1;
}

static enum serial_kind follow_clock(struct serial_events *e, const char *ms)
{
    uint64_t before = e->ms;

    if (ms == NULL) {
        return SERIAL_OTHER;
    }
    e->ms = strtoull(ms, NULL, 10);
    if (e->ms < before) {
        return SERIAL_RESTART;
    }
    return SERIAL_OTHER;
}

static enum serial_kind take_event(struct serial_events *e, const struct event *event)
{
    const char *kind = event->values[EVENT];

    if (strcmp(kind, "done") == 0) {
        return take_done(e, event);
    }
    if (strcmp(kind, "ready") == 0) {
        return take_ready(e, event);
    }
    if (strcmp(kind, "action") == 0 && event->values[RESULT] != NULL) {
        end_line(e);
        fprintf(stderr, "(%s)\n", event->values[RESULT]); /* what an action of the model did */
        return SERIAL_OTHER;
    }
    if (event->values[TEXT] == NULL) {
        return SERIAL_OTHER; /* an event of a later version */
    }
    if (strcmp(kind, "progress") == 0) {
        show_progress(e, event);
        return SERIAL_OTHER;
    }
    if (strcmp(kind, "token") == 0) {
        erase_progress(e);
        e->in_line = true;
        fputs(event->values[TEXT], stdout);
        fflush(stdout);
        return SERIAL_TOKEN;
    }
    end_line(e);
    if (strcmp(kind, "text") == 0) {
        puts(event->values[TEXT]);
        fflush(stdout);
    } else if (strcmp(kind, "error") == 0) {
        fprintf(stderr, "error: %s\n", event->values[TEXT]);
        e->errors++;
        return SERIAL_ERROR;
    } else if (!e->quiet) {
        fprintf(stderr, "%s\n", event->values[TEXT]);
    }
    return follow_clock(e, event->values[MS]);
}

enum serial_kind serial_events_take(struct serial_events *e, char *line, size_t bytes)
{
    struct event event;

    if (bytes == 0 || line[0] != '{' || !read_event(&event, line, bytes)) {
        return SERIAL_NOT_JSON;
    }
    return take_event(e, &event);
}

/* ---- requests ------------------------------------------------------------------------------ */

struct output {
    char *text;
    size_t n, most;
};

static void put(struct output *o, const char *bytes, size_t n)
{
    if (o->n + n <= o->most) {
        memcpy(o->text + o->n, bytes, n);
    }
    o->n += n;
}

/* Write one character, which the UTF-8 writer has completed. */
static void put_escaped(void *context, const char *text, size_t bytes)
{
    char out[JSON_ESCAPE_BYTES];

    put(context, out, json_escape(out, text, bytes));
}

size_t serial_request(char *out, size_t most, const char *key, const char *text, size_t bytes)
{
    struct output o = { out, 0, most - 1 };
    struct utf8_writer writer = { .write = put_escaped, .context = &o };

    put(&o, "{\"", 2);
    put(&o, key, strlen(key));
    put(&o, "\":\"", 3);
    utf8_writer_put(&writer, text, bytes);
    utf8_writer_flush(&writer);
    put(&o, "\"}\n", 3);
    if (o.n > o.most) {
        return 0;
    }
    out[o.n] = '\0';
    return o.n;
}
