/* Bodies of any bytes as requests of `ingot serve`; the first byte says of which page. Each is taken with values
 * within their bounds, or refused by a sentence, which the answer has as JSON. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "host/serve_answer.h"
#include "runtime/grammar/grammar.h"
#include "runtime/text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void check(const struct serve_request *q)
{
    const struct sampler_params *s = &q->sampler;

    must(q->n_turns != 0 && (q->kind != SERVE_CONTINUE || q->n_turns == 1));
    must(q->kind != SERVE_EMBED || q->n_turns <= SERVE_INPUTS_MOST);
    for (uint32_t i = 0; i < q->n_turns; i++) {
        must(q->turns[i].user.bytes != NULL && q->turns[i].replied == (i + 1 < q->n_turns));
        must(!q->turns[i].replied || q->turns[i].reply.bytes != NULL);
    }
    must(!q->has_system || q->system.bytes != NULL);
    must(q->n <= 1 << 20 && q->n_stops <= REPLY_TEXT_STOPS);
    for (uint32_t i = 0; i < q->n_stops; i++) {
        must(q->stops[i][0] != '\0' && memchr(q->stops[i], '\0', sizeof q->stops[i]) != NULL);
    }
    must(s->temp >= 0 && s->temp <= 100 && s->repeat > 0 && s->repeat <= 100);
    must(s->top_p > 0 && s->top_p <= 1 && s->min_p >= 0 && s->min_p <= 1);
    if (q->grammar != NULL) {
        const char *why;
        struct grammar g;

        must(q->grammar_bytes <= INGOT_GRAMMAR_BYTES);
        must(grammar_open(&g, q->grammar, q->grammar_bytes, &why) == ERR_OK);
    }
}

/* The error's own JSON is JSON, in UTF-8. */
static void check_error(const struct serve_error *e)
{
    struct serve_text out = { .n = 0 };
    cJSON *root;

    must(e->status >= 400 && e->status < 600 && e->text[0] != '\0');
    serve_answer_error(&out, e);
    root = cJSON_ParseWithOpts(serve_text_shown(&out), NULL, 1);
    must(root != NULL);
    cJSON_Delete(root);
    for (size_t at = 0; at < out.n;) {
        int n = utf8_check((const uint8_t *)out.bytes + at, out.n - at);

        must(n > 0);
        at += (size_t)n;
    }
    serve_text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct serve_defaults d = { .model = "demo.ingot" };
    struct serve_request q = { .n = 0 };
    struct serve_error e = { .status = 0 };
    char *body;

    if (size < 1 || size > SERVE_BODY_BYTES) {
        return 0;
    }
    sampler_params_default(&d.sampler);
    body = malloc(size);
    must(body != NULL);
    memcpy(body, data + 1, size - 1);
    body[size - 1] = '\0';
    if (serve_request_read(&q, (enum serve_kind)(data[0] % SERVE_N_KINDS), body, size - 1, &d,
                           &e)) {
        check(&q);
    } else {
        check_error(&e);
    }
    serve_request_free(&q);
    free(body);
    return 0;
}
