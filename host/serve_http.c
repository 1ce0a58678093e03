#include "host/serve_http.h"

#include <stdio.h>

#ifdef INGOT_WEBSOCKETS

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libwebsockets.h>

#include "host/serve_choices.h"
#include "host/serve_guard.h"
#include "host/serve_load.h"
#include "host/serve_page.h"
#include "host/serve_state.h"
#include "host/serve_ws.h"

enum {
    DRAINED_BYTES = 64 << 20, /* of a body that is too long, before its answer */
    HEADER_BYTES = 2048,
    NAME_BYTES = 300,
    CONNECTION_SECONDS = 30, /* for headers, and between two pieces of a body */
    BODY_SECONDS = 120,      /* for all of it */
};

enum phase { PHASE_NONE, PHASE_BODY, PHASE_WAITS, PHASE_ANSWERS };

/* What libwebsockets keeps for each connection; requests come one after the other. */
struct connection {
    enum phase phase;
    enum serve_kind kind;
    bool loads; /* another model, in place of that kind of request */
    struct serve_text body, out;
    size_t left;  /* of a body that is passed over */
    time_t since; /* a body comes */
    struct serve_error error;
    struct serve_choices choices;
    int status;
    const char *type;
    const char *policy; /* of the page; NULL: another answer */
    bool headers_out;
    struct serve_ws socket; /* in place of all of it, once it is one */
};

static struct server {
    struct serve_setup *setup;
    struct lws_context *context;
    uint64_t n_requests;
    volatile sig_atomic_t ends;
} server;

/* ---- what goes out --------------------------------------------------------------------------- */

static void forget(struct connection *c)
{
    serve_choices_leave(&c->choices, server.setup->backend);
    serve_text_free(&c->body);
    serve_text_free(&c->out);
    memset(c, 0, sizeof *c);
}

/* c->out is all of the answer. */
static int answer(struct lws *wsi, struct connection *c, int status, const char *type)
{
    c->phase = PHASE_ANSWERS;
    c->status = status;
    c->type = type;
    lws_callback_on_writable(wsi);
    return 0;
}

static int answer_error(struct lws *wsi, struct connection *c)
{
    serve_text_free(&c->out);
    serve_answer_error(&c->out, &c->error);
    return answer(wsi, c, c->error.status, "application/json");
}

static int add_header(struct lws *wsi, const char *name, const char *value, unsigned char **p,
                      unsigned char *end)
{
    return lws_add_http_header_by_name(wsi, (const unsigned char *)name,
                                       (const unsigned char *)value, (int)strlen(value), p, end);
}

static int write_headers(struct lws *wsi, struct connection *c, int status, const char *type,
                         lws_filepos_t bytes)
{
    unsigned char room[LWS_PRE + HEADER_BYTES], *start = room + LWS_PRE, *p = start,
                                                *end = room + sizeof room - 1;

    c->headers_out = true;
    if (lws_add_http_common_headers(wsi, (unsigned)status, type, bytes, &p, end) != 0 ||
        add_header(wsi, "cache-control:", "no-store", &p, end) != 0 ||
        add_header(wsi, "x-content-type-options:", "nosniff", &p, end) != 0 ||
        (c->policy != NULL &&
         add_header(wsi, "content-security-policy:", c->policy, &p, end) != 0) ||
        (status == 401 && add_header(wsi, "www-authenticate:", "Bearer", &p, end) != 0)) {
        return -1;
    }
    return lws_finalize_write_http_header(wsi, start, &p, end) != 0 ? -1 : 0;
}

/* What it cannot send at once libwebsockets keeps. */
static int write_out(struct lws *wsi, struct connection *c, bool last)
{
    size_t n = c->out.n;
    unsigned char *room = malloc(LWS_PRE + n + 1);
    int sent;

    if (room == NULL || c->out.failed) {
        free(room);
        return -1;
    }
    if (n != 0) {
        memcpy(room + LWS_PRE, c->out.bytes, n);
    }
    c->out.n = 0;
    sent = lws_write(wsi, room + LWS_PRE, n, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP);
    free(room);
    if (sent < 0) {
        return -1;
    }
    if (!last) {
        return 0;
    }
    sent = c->status == 411 ? -1 : 0; /* where that body ends nobody knows */
    forget(c);
    return sent != 0 || lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
}

/* An answer whose length is known: headers, then all of it. */
static int write_answer(struct lws *wsi, struct connection *c)
{
    if (c->headers_out) {
        return write_out(wsi, c, true);
    }
    if (write_headers(wsi, c, c->status, c->type, (lws_filepos_t)c->out.n) != 0) {
        return -1;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

/* The jobs may have something to say. */
static int write_choices(struct lws *wsi, struct connection *c)
{
    if (!c->headers_out) {
        if (!serve_choices_begun(&c->choices, &c->error)) {
            return 0;
        }
        if (c->error.status != 0) {
            serve_choices_leave(&c->choices, server.setup->backend);
            return answer_error(wsi, c);
        }
    }
    if (!c->choices.streams) {
        serve_choices_say(&c->choices, &c->out);
        return answer(wsi, c, 200, "application/json");
    }
    if (!c->headers_out) {
        lws_callback_on_writable(wsi);
        return write_headers(wsi, c, 200, "text/event-stream", LWS_ILLEGAL_HTTP_CONTENT_LEN);
    }
    serve_choices_say(&c->choices, &c->out);
    return c->out.n != 0 || c->choices.ended ? write_out(wsi, c, c->choices.ended) : 0;
}

static int write_more(struct lws *wsi, struct connection *c)
{
    if (c->phase == PHASE_ANSWERS) {
        return write_answer(wsi, c);
    }
    return c->phase == PHASE_WAITS && c->choices.n != 0 ? write_choices(wsi, c) : 0;
}

/* ---- who may ask ----------------------------------------------------------------------------- */

/* The header's value to text (NAME_BYTES), "" where there is none, or it is too long. False then. */
static bool header(struct lws *wsi, enum lws_token_indexes which, char text[NAME_BYTES])
{
    text[0] = '\0';
    return lws_hdr_total_length(wsi, which) > 0 && lws_hdr_copy(wsi, text, NAME_BYTES, which) > 0;
}

static bool may_ask(struct lws *wsi, const char *path, struct serve_error *e)
{
    char host[NAME_BYTES], origin[NAME_BYTES], authorization[NAME_BYTES];
    struct serve_caller caller = { .path = path, .host = host, .authorization = authorization };

    (void)header(wsi, WSI_TOKEN_HOST, host);
    (void)header(wsi, WSI_TOKEN_HTTP_AUTHORIZATION, authorization);
    (void)header(wsi, WSI_TOKEN_ORIGIN, origin);
    caller.origin = lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) > 0 ? origin : NULL;
    return serve_may_ask(&caller, server.setup->token, e);
}

/* ---- what comes in --------------------------------------------------------------------------- */

static int submit(struct lws *wsi, struct connection *c)
{
    const struct serve_answer as = { c->kind, ++server.n_requests, (int64_t)time(NULL),
                                     server.setup->defaults.model };
    bool good = serve_choices_ask(&c->choices, server.setup->backend, &as, &c->body,
                                  &server.setup->defaults, &c->error);

    serve_text_free(&c->body);
    if (!good) {
        return answer_error(wsi, c);
    }
    c->phase = PHASE_WAITS;
    lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
    lws_callback_on_writable(wsi); /* it may be done by now */
    return 0;
}

/* A model that is loaded is that of all requests that come from now on. */
static int load(struct lws *wsi, struct connection *c)
{
    bool good = serve_load(&c->out, server.setup->backend, &c->body, server.setup->defaults.model,
                           &c->error);

    return good ? answer(wsi, c, 200, "application/json") : answer_error(wsi, c);
}

static int complete(struct lws *wsi, struct connection *c)
{
    if (c->phase != PHASE_BODY) {
        return 0;
    }
    if (c->error.status != 0) {
        return answer_error(wsi, c);
    }
    return c->loads ? load(wsi, c) : submit(wsi, c);
}

static int take_body(struct connection *c, const char *bytes, size_t n)
{
    if (c->phase == PHASE_ANSWERS && c->status == 411) {
        return 0;
    }
    if (c->phase != PHASE_BODY || time(NULL) - c->since > BODY_SECONDS) {
        return -1;
    }
    if (c->error.status != 0) {
        c->left -= n < c->left ? n : c->left;
        return c->left == 0 ? -1 : 0;
    }
    if (c->body.n + n > SERVE_BODY_BYTES || !serve_text_add(&c->body, bytes, n)) {
        return -1; /* more than its headers said */
    }
    return 0;
}

static int get(struct lws *wsi, struct connection *c, const char *path)
{
    struct serve_backend *b = server.setup->backend;
    struct serve_stats s;

    if (strcmp(path, "/") == 0) {
        size_t bytes;
        const char *page = serve_page(&bytes);

        (void)serve_text_add(&c->out, page, bytes);
        c->policy = serve_page_policy();
        return answer(wsi, c, 200, "text/html; charset=utf-8");
    }
    if (strcmp(path, "/health") == 0) {
        (void)serve_text_say(&c->out, "{\"status\":\"ok\"}\n");
    } else if (strcmp(path, "/v1/models") == 0) {
        serve_answer_models(&c->out, server.setup->defaults.model, (int64_t)time(NULL));
    } else if (strcmp(path, "/models") == 0) {
        serve_load_list(&c->out, b, server.setup->defaults.model);
    } else if (strcmp(path, "/boards") == 0) {
        serve_state_boards(&c->out, b);
    } else if (strcmp(path, "/metrics") == 0) {
        b->stats(b->context, &s);
        serve_state_metrics(&c->out, &s);
        return answer(wsi, c, 200, "text/plain; version=0.0.4");
    } else {
        (void)serve_refuse(&c->error, 404, NULL, "not_found", "there is no such page");
        return answer_error(wsi, c);
    }
    return answer(wsi, c, 200, "application/json");
}

/* The body has to say its length, and is read to its end even where the answer is an error. */
static int post(struct lws *wsi, struct connection *c)
{
    char text[NAME_BYTES];
    unsigned long long bytes = 0;

    if (!header(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, text)) {
        (void)serve_refuse(&c->error, 411, NULL, NULL, "the Content-Length header is missing");
        return answer_error(wsi, c);
    }
    bytes = strtoull(text, NULL, 10);
    c->left = DRAINED_BYTES;
    c->since = time(NULL);
    if (bytes > SERVE_BODY_BYTES && c->error.status == 0) {
        (void)serve_refuse(&c->error, 413, NULL, NULL, "the body is longer than %d bytes",
                           SERVE_BODY_BYTES);
    }
    c->phase = PHASE_BODY;
    if (bytes > DRAINED_BYTES) {
        return -1;
    }
    return 0;
}

/* Whether a page takes requests, and of what kind. */
static bool is_asked(const char *path, enum serve_kind *kind)
{
    static const char *const paths[SERVE_N_KINDS] = {
        [SERVE_CHAT] = "/v1/chat/completions",
        [SERVE_CONTINUE] = "/v1/completions",
        [SERVE_EMBED] = "/v1/embeddings",
    };

    for (int i = 0; i < SERVE_N_KINDS; i++) {
        if (strcmp(path, paths[i]) == 0) {
            *kind = (enum serve_kind)i;
            return true;
        }
    }
    return false;
}

static int begin(struct lws *wsi, struct connection *c, const char *path)
{
    bool posts = lws_hdr_total_length(wsi, WSI_TOKEN_POST_URI) > 0;
    bool known;

    forget(c);
    c->loads = strcmp(path, "/models/load") == 0;
    known = c->loads || is_asked(path, &c->kind);
    if (may_ask(wsi, path, &c->error) && posts && !known) {
        (void)serve_refuse(&c->error, 404, NULL, "not_found", "there is no such page");
    } else if (c->error.status == 0 && !posts &&
               (known || lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0)) {
        (void)serve_refuse(&c->error, 405, NULL, NULL, "%s takes another method",
                           known ? "this page" : "this server");
    }
    if (posts) {
        return post(wsi, c);
    }
    return c->error.status != 0 ? answer_error(wsi, c) : get(wsi, c, path);
}

/* Before a connection becomes a WebSocket. */
static int may_upgrade(struct lws *wsi)
{
    struct serve_error e = { .status = 0 };
    char path[NAME_BYTES];

    return header(wsi, WSI_TOKEN_GET_URI, path) && strcmp(path, "/ws") == 0 &&
                   may_ask(wsi, path, &e)
               ? 0
               : -1;
}

static int take_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                      size_t n)
{
    struct connection *c = user;

    switch (reason) {
    case LWS_CALLBACK_HTTP: return begin(wsi, c, in);
    case LWS_CALLBACK_HTTP_BODY: return take_body(c, in, n);
    case LWS_CALLBACK_HTTP_BODY_COMPLETION: return complete(wsi, c);
    case LWS_CALLBACK_HTTP_WRITEABLE: return write_more(wsi, c);
    case LWS_CALLBACK_CLOSED_HTTP:
        if (c != NULL) {
            forget(c);
        }
        return 0;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return may_upgrade(wsi);
    case LWS_CALLBACK_ESTABLISHED:
    case LWS_CALLBACK_RECEIVE:
    case LWS_CALLBACK_SERVER_WRITEABLE:
    case LWS_CALLBACK_CLOSED: return serve_ws_event(wsi, reason, &c->socket, in, n, server.setup);
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        lws_callback_on_writable_all_protocol(lws_get_context(wsi), lws_get_protocol(wsi));
        return 0;
    default: return lws_callback_http_dummy(wsi, reason, user, in, n);
    }
}

/* ---- the server ------------------------------------------------------------------------------ */

static const struct lws_protocols protocols[] = {
    { .name = "http", .callback = take_event, .per_session_data_size = sizeof(struct connection) },
    { .name = NULL },
};

static void end_serving(int number)
{
    (void)number;
    server.ends = 1;
    lws_cancel_service(server.context);
}

bool serve_http_is_built(void)
{
    return true;
}

bool serve_http_open(struct serve_setup *setup)
{
    struct lws_context_creation_info info = {
        .port = setup->port,
        .iface = setup->address,
        .protocols = protocols,
        .gid = -1,
        .uid = -1,
        .timeout_secs = CONNECTION_SECONDS,
        .keepalive_timeout = CONNECTION_SECONDS,
        .vhost_name = "ingot",
        .options = LWS_SERVER_OPTION_DISABLE_IPV6,
    };

    lws_set_log_level(0, NULL);
    server.setup = setup;
    server.context = lws_create_context(&info);
    if (server.context == NULL) {
        fprintf(stderr, "ingot: cannot listen at %s, port %d: is another program there?\n",
                setup->address, setup->port);
    }
    return server.context != NULL;
}

void serve_http_wake(void *unused)
{
    (void)unused;
    lws_cancel_service(server.context);
}

bool serve_http_run(void)
{
    struct lws_vhost *vhost = lws_get_vhost_by_name(server.context, "ingot");
    struct sigaction action = { .sa_handler = end_serving };
    int n = 0;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    printf("serving %s at http://%s:%d\n", server.setup->defaults.model, server.setup->address,
           lws_get_vhost_listen_port(vhost));
    fflush(stdout);
    while (n >= 0 && !server.ends) {
        n = lws_service(server.context, 0);
    }
    if (!server.ends) {
        fprintf(stderr, "ingot: the server's sockets failed\n");
    }
    return server.ends != 0;
}

void serve_http_close(void)
{
    lws_context_destroy(server.context);
}

#else

bool serve_http_is_built(void)
{
    fprintf(stderr,
            "ingot: this program was built without libwebsockets, which `ingot serve` needs: "
            "install libwebsockets-dev (Debian, Ubuntu) and build it again\n");
    return false;
}

bool serve_http_open(struct serve_setup *setup)
{
    (void)setup;
    return serve_http_is_built();
}

void serve_http_wake(void *unused)
{
    (void)unused;
}

bool serve_http_run(void)
{
    return false;
}

void serve_http_close(void)
{
}

#endif
