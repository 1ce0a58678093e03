/* Answers that are complete at once. */
#include <string.h>

#include "runtime/api/api.h"

void api_answer(struct api_client *k, int status, const char *type, const char *fields,
                const char *body, size_t bytes)
{
    const struct http_answer head = {
        .status = status, .type = type, .fields = fields, .bytes = bytes
    };

    bytes = bytes < API_OUT_BYTES ? bytes : API_OUT_BYTES;
    memcpy(k->out, body, bytes);
    k->out_at = 0;
    k->out_end = bytes;
    k->last = true;
    k->stage = API_ANSWERS;
    http_connection_answer(k->http, &head);
}

void api_answer_error(struct api_client *k, int status, const char *message, const char *param,
                      const char *code)
{
    struct api *a = k->api;
    struct api_error e;
    struct api_text t;

    a->n_refused++;
    (void)api_refuse(&e, status, param, code != NULL && code[0] != '\0' ? code : NULL, "%s",
                     message);
    api_text_open(&t, a->text, sizeof a->text);
    api_error_put(&t, &e);
    api_text_put(&t, "\n", 1);
    api_answer(k, status, "application/json",
               status == 429 || status == 503 ? "retry-after: 5\r\n" : NULL, t.bytes, t.n);
}
