/* The site: its pages, the check of callers, and answers on their way to the client. */
#include "runtime/api/api.h"

#include <string.h>

#include "runtime/api/api_group.h"
#include "runtime/api/api_guard.h"
#include "runtime/api/api_models.h"
#include "runtime/api/api_page.h"
#include "runtime/text/format_text.h"

void api_open(struct api *a, const struct api_setup *setup)
{
    a->setup = *setup;
    a->work = &a->alone;
    a->group = setup->group;
    api_group_open(a->group, a, setup->n_group);
    for (unsigned i = 0; i < API_CLIENTS; i++) {
        a->clients[i].api = a;
    }
}

void api_set_sequences(struct api *a, struct session *const *sequences, uint32_t n,
                       uint32_t version)
{
    api_group_use(a->group, sequences, n, version);
}

void api_set_model(struct api *a, const char *name)
{
    (void)format_text(a->model, sizeof a->model, "%s", name != NULL ? name : "");
}

/* ---- answers that are complete at once ---- */

static void answer_health(struct api_client *k)
{
    struct api *a = k->api;
    struct api_text t;

    api_text_open(&t, a->text, sizeof a->text);
    api_text_print(&t, "{'status':'%s','version':'%s','board':'%s'}\n",
                   a->model[0] != '\0' ? "ok" : "no model", INGOT_VERSION_TEXT,
                   a->setup.platform->name);
    api_answer(k, a->model[0] != '\0' ? 200 : 503, "application/json", NULL, t.bytes, t.n);
}

/* Answer with a model or the list of models. `asked` is the model's name, or NULL for the list. */
static void answer_model(struct api_client *k, const char *asked)
{
    struct api *a = k->api;
    struct api_text t;

    api_text_open(&t, a->text, sizeof a->text);
    if (api_put_models(&t, asked, a->model, 0)) {
        api_answer(k, 200, "application/json", NULL, t.bytes, t.n);
    } else {
        api_answer_error(k, 404, "no model of this name is loaded: GET /v1/models has the name", "",
                         "model_not_found");
    }
}

static void answer_models(struct api_client *k)
{
    answer_model(k, NULL);
}

static void answer_stats(struct api_client *k)
{
    struct api *a = k->api;
    struct api_text t;

    api_text_open(&t, a->text, sizeof a->text);
    api_text_print(&t, "{'answers':%llu,'refused':%llu", (unsigned long long)a->n_answers,
                   (unsigned long long)a->n_refused);
    api_text_print(&t, ",'passes':%llu,'pass_tokens':%llu",
                   (unsigned long long)a->group->replies.group.n_passes,
                   (unsigned long long)a->group->replies.group.n_tokens);
    if (a->setup.figures != NULL) {
        a->setup.figures(a->setup.context, &t);
    }
    api_text_print(&t, "}\n");
    api_answer(k, 200, "application/json", NULL, t.bytes, t.n);
}

static void answer_page(struct api_client *k)
{
    size_t bytes;
    const char *page = api_page(&bytes);

    api_answer(k, 200, "text/html; charset=utf-8", api_page_fields, page, bytes);
}

/* ---- who may ask ---- */

static bool may_ask(struct api_client *k, const struct http_request *r)
{
    const struct api_setup *s = &k->api->setup;
    size_t origin_bytes, token_bytes;
    const char *origin = http_connection_field(k->http, "origin", &origin_bytes);
    const char *token = http_connection_field(k->http, "authorization", &token_bytes);

    if (s->token == NULL && !http_request_is_nameless(r) &&
        !api_is_own_host(r->authority, r->authority_bytes, s->name)) {
        api_answer_error(k, 403,
                         "the Host header names another machine: use this one's address or name",
                         "", "host");
        return false;
    }
    if (origin != NULL &&
        !api_is_own_origin(origin, origin_bytes, r->authority, r->authority_bytes)) {
        api_answer_error(k, 403, "requests from other sites' pages are refused", "", "origin");
        return false;
    }
    if (strcmp(r->path, "/health") == 0 || strcmp(r->path, "/") == 0) {
        return true;
    }
    if (s->token != NULL && (token == NULL || !api_has_token(token, token_bytes, s->token))) {
        api_answer_error(k, 401, "the Authorization header has to be Bearer and the token", "",
                         "invalid_api_key");
        return false;
    }
    if (s->token == NULL && !s->open) {
        api_answer_error(
            k, 403,
            "this board has no token: start it with token=SECRET, or with net=dhcp,open if "
            "everybody who reaches it may use it",
            "", "closed");
        return false;
    }
    return true;
}

/* ---- the site ---- */

struct page {
    const char *path;
    enum http_method method;
    void (*answer)(struct api_client *k); /* NULL if the model answers the request */
    enum api_kind kind;
};

static const struct page pages[] = {
    { "/", HTTP_IS_GET, answer_page, API_CHAT },
    { "/health", HTTP_IS_GET, answer_health, API_CHAT },
    { "/stats", HTTP_IS_GET, answer_stats, API_CHAT },
    { "/v1/models", HTTP_IS_GET, answer_models, API_CHAT },
    { "/v1/chat/completions", HTTP_IS_POST, NULL, API_CHAT },
    { "/v1/completions", HTTP_IS_POST, NULL, API_CONTINUE },
    { "/v1/embeddings", HTTP_IS_POST, NULL, API_EMBED },
    { "/line", HTTP_IS_POST, NULL, API_LINE },
    { "/v1/models/load", HTTP_IS_POST, NULL, API_LOAD },
};

static bool is_method(const struct page *p, enum http_method method)
{
    return method == p->method || (method == HTTP_IS_HEAD && p->method == HTTP_IS_GET);
}

static bool is_path(const char *ours, const char *path, size_t n)
{
    return strlen(ours) == n && memcmp(ours, path, n) == 0;
}

/* Find the page of a path. OpenAI's paths also work without /v1, for clients whose address
 * lacks it, and with slashes at their end. */
static const struct page *find_page(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        const char *ours = pages[i].path;

        if (is_path(ours, path, n) ||
            (strncmp(ours, "/v1/", 4) == 0 && is_path(ours + 3, path, n))) {
            return &pages[i];
        }
    }
    return NULL;
}

static void take_head(void *user, const struct http_request *r)
{
    struct api_client *k = user;
    const struct page *p = find_page(r->path);

    k->keeps_body = k->uploads = false;
    k->body_bytes = 0;
    k->last = k->cut = false;
    k->out_at = k->out_end = 0;
    if (!may_ask(k, r) || api_upload_head(k, r)) {
        return;
    }
    if (p != NULL && p->kind == API_LOAD && is_method(p, r->method) && !api_load_may(k)) {
        return;
    }
    if ((r->method == HTTP_IS_GET || r->method == HTTP_IS_HEAD) && p == NULL &&
        api_model_asked(r->path) != NULL) {
        answer_model(k, api_model_asked(r->path));
        return;
    }
    if (p == NULL) {
        api_answer_error(k, 404,
                         "a board has no such page; it has /v1/chat/completions, /v1/completions, "
                         "/v1/embeddings, /v1/models, /health",
                         "", "not_found");
    } else if (!is_method(p, r->method)) {
        api_answer_method(k, p->method == HTTP_IS_POST);
    } else if (p->answer != NULL) {
        p->answer(k);
    } else if (r->body_bytes > API_BODY_BYTES) {
        api_answer_error(k, 413, "the body is longer than 24 KiB", "", "too_long");
    } else {
        k->keeps_body = true;
        k->kind = p->kind;
    }
}

static bool take_body(void *user, const char *bytes, size_t n)
{
    struct api_client *k = user;

    if (k->uploads) {
        return api_upload_body(k, bytes, n);
    }
    if (n > API_BODY_BYTES - k->body_bytes) {
        api_answer_error(k, 413, "the body is longer than 24 KiB", "", "too_long");
        return true;
    }
    memcpy(k->body + k->body_bytes, bytes, n);
    k->body_bytes += n;
    return true;
}

static unsigned count_waiting(const struct api *a)
{
    unsigned n = 0;

    for (unsigned i = 0; i < API_CLIENTS; i++) {
        n += a->clients[i].stage == API_WAITS;
    }
    return n;
}

bool api_may_wait(const struct api *a)
{
    return count_waiting(a) < API_WAITING + api_group_free(a->group);
}

static void take_whole(void *user)
{
    struct api_client *k = user;
    struct api *a = k->api;

    if (k->uploads) {
        k->arrived = true;
    } else if (a->model[0] == '\0' && k->kind != API_LINE && k->kind != API_LOAD) {
        api_answer_error(k, 503, "no model is loaded", "", "no_model");
    } else if (!api_may_wait(a)) {
        api_answer_error(k, 429, "too many requests wait for this board: try again later", "",
                         "busy");
    } else {
        k->body[k->body_bytes] = '\0';
        k->stage = API_WAITS;
        k->order = ++a->n_orders;
    }
}

static void take_wrong(void *user, int status, const char *error_message)
{
    api_answer_error(user, status, error_message, "", "request");
}

static size_t give_more(void *user, char *to, size_t room, bool *last, bool *failed)
{
    struct api_client *k = user;
    size_t n = k->out_end - k->out_at;

    *failed = k->cut;
    n = n < room ? n : room;
    memcpy(to, k->out + k->out_at, n);
    k->out_at += n;
    *last = k->last && k->out_at == k->out_end;
    return n;
}

static void is_over(void *user)
{
    struct api_client *k = user;

    k->stage = API_READS;
}

static void is_opened(void *user)
{
    (void)user;
}

static uint16_t take_message(void *user, const char *bytes, size_t n, bool last, bool text)
{
    (void)user;
    (void)bytes;
    (void)n;
    (void)last;
    (void)text;
    return HTTP_CLOSE_AT_ONCE;
}

static const char *say_nothing(void *user, size_t *n)
{
    (void)user;
    *n = 0;
    return NULL;
}

const struct http_site api_site = {
    .head = take_head,
    .body = take_body,
    .whole = take_whole,
    .wrong = take_wrong,
    .more = give_more,
    .over = is_over,
    .opened = is_opened,
    .message = take_message,
    .say = say_nothing,
    .said = is_opened,
};

void *api_begin(void *api, unsigned n, struct http_connection *http)
{
    struct api *a = api;
    struct api_client *k = &a->clients[n];

    k->http = http;
    k->stage = API_READS;
    return k;
}

void api_end(void *api, unsigned n)
{
    struct api *a = api;
    struct api_client *k = &a->clients[n];

    k->http = NULL;
    k->callers++;
    k->stage = API_READS;
}

bool api_works(void *api, unsigned n)
{
    const struct api *a = api;

    return a->clients[n].stage == API_WAITS || a->clients[n].stage == API_WORKS;
}

bool api_has_work(const struct api *a)
{
    return count_waiting(a) != 0 || api_group_works(a->group);
}
