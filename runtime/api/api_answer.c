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

static void refuse(struct api_client *k, int status, const char *message, const char *param,
                   const char *code, const char *fields)
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
    api_answer(k, status, "application/json", fields, t.bytes, t.n);
}

void api_answer_error(struct api_client *k, int status, const char *message, const char *param,
                      const char *code)
{
    const char *fields = NULL;

    if (status == 401) {
        fields = "www-authenticate: Bearer\r\n";
    } else if (status == 429 || status == 503) {
        fields = "retry-after: 5\r\n";
    }
    refuse(k, status, message, param, code, fields);
}

void api_answer_method(struct api_client *k, bool takes_post)
{
    if (takes_post) {
        refuse(k, 405, "this page takes only POST", "", "method", "allow: POST\r\n");
    } else {
        refuse(k, 405, "this page takes only GET", "", "method", "allow: GET, HEAD\r\n");
    }
}
