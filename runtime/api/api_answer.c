/* Answers that are there as a whole. */
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
    const char *type = "invalid_request_error";
    struct api_text t;

    if (status == 429 || status >= 500) {
        type = status == 429 ? "rate_limit_error" : "server_error";
    }
    a->n_refused++;
    api_text_open(&t, a->text, sizeof a->text);
    api_text_print(&t, "{'error':{'message':");
    api_text_quoted(&t, message, strlen(message));
    api_text_print(&t, ",'type':'%s','param':", type);
    api_text_quoted_or_null(&t, param);
    api_text_print(&t, ",'code':");
    api_text_quoted_or_null(&t, code);
    api_text_print(&t, "}}\n");
    api_answer(k, status, "application/json",
               status == 429 || status == 503 ? "retry-after: 5\r\n" : NULL, t.text, t.n);
}
