/* Any bytes as messages of a WebSocket, one for each line: they are refused with an error message,
 * or become a request whose reply is played here; every event that is sent is a line of JSON with
 * the request's id. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "host/serve/serve_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* Checks lines of JSON, of which the last is a `done`. */
static void check_events(struct api_text *out)
{
    char *at = out->bytes;
    bool done = false;

    must(!out->failed && out->n != 0);
    while (at < out->bytes + out->n) {
        char *end = strchr(at, '\n');
        cJSON *root;
        const char *name;

        must(end != NULL);
        root = cJSON_ParseWithLength(at, (size_t)(end - at));
        name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "event"));
        must(name != NULL && !done);
        done = strcmp(name, "done") == 0;
        cJSON_Delete(root);
        at = end + 1;
    }
    must(done);
    serve_text_free(out);
}

static void answer(struct serve_line *l, struct serve_job *j, unsigned how)
{
    struct api_events at = { .begun = true };
    struct api_text out = { .n = 0 };
    char piled_up[600];

    must(j->of.request.n_turns != 0);
    memset(piled_up, 'c', sizeof piled_up);
    memcpy(piled_up, "a \"b\"\n", 6);
    (void)serve_text_add(&j->of.text, piled_up, how % 2 != 0 ? sizeof piled_up : 6);
    serve_line_events(&out, l, j, &at);
    must(at.text == j->of.text.n && !at.ended);
    j->of.done = true;
    j->cancelled = how % 3 == 1;
    if (how % 3 == 2) {
        (void)api_refuse(&j->of.error, 500, NULL, NULL, "it failed");
    }
    serve_line_events(&out, l, j, &at);
    must(at.ended);
    check_events(&out);
}

static void take(struct serve_line *l, const char *text, size_t n, bool busy)
{
    static const struct api_defaults defaults = { .model = "m", .n = 10 };
    struct api_error e = { .status = 0 };
    struct serve_job *j = serve_job_new();
    struct api_text out = { .n = 0 };
    enum serve_line_kind kind;

    must(j != NULL);
    kind = serve_line_take(l, text, n, busy, &j->of.request, &defaults, &e);
    must((kind == SERVE_LINE_REFUSED) == (e.status != 0) && !(busy && kind == SERVE_LINE_REPLY));
    if (kind == SERVE_LINE_REPLY) {
        answer(l, j, (unsigned)n);
    } else if (kind == SERVE_LINE_REFUSED) {
        serve_line_error(&out, l, &e);
        check_events(&out);
    } else {
        serve_line_done(&out, l, "command");
        check_events(&out);
    }
    serve_job_release(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct serve_line l = { .history = NULL };
    char *text = malloc(size + 1);
    size_t from = 0;

    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\n';
    for (size_t i = 0; i <= size; i++) {
        if (text[i] == '\n') {
            take(&l, text + from, i - from, (i ^ size) % 5 == 0);
            from = i + 1;
        }
    }
    serve_line_free(&l);
    free(text);
    return 0;
}
