#ifdef INGOT_HTTP

#include "host/cli/ending_signals.h"
#include "host/serve/serve_http.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/serve/serve_answer_head.h"
#include "host/serve/serve_asked.h"
#include "host/api/serve_dialect.h"
#include "host/serve/serve_page.h"
#include "host/serve/serve_pages.h"
#include "host/serve/serve_socket.h"
#include "host/api/serve_worker.h"
#include "host/serve/serve_ws.h"
#include "host/args/shown_streams.h"

enum {
    NAME_BYTES = 300,
    BODIES_BYTES = 256 << 20, /* limit for all bodies together */
};

/* The state of a connection, whose requests come one after the other. */
struct exchange {
    struct http_connection *c;
    bool few; /* the server is full, so only /health is answered */
    const struct serve_page_row *page;
    struct api_text body, out;
    size_t body_bytes;         /* bytes of this body that server.body_bytes counts */
    size_t said;               /* bytes of out that were sent */
    struct serve_asked *asked; /* the request while it is being read, else NULL */
    struct api_error error;
    struct serve_choices choices;
    struct serve_ws *socket;         /* the WebSocket, once the connection is one */
    char fields[SERVE_FIELDS_BYTES]; /* header fields of the answer, except those of its body */
};

static struct server {
    struct serve_setup *setup;
    uint64_t n_requests;
    size_t body_bytes; /* bytes in the bodies of all unanswered requests */
    uint64_t n_left;   /* number of requests whose caller was gone before they were read */
} server;

/* ---- what goes out --------------------------------------------------------------------------- */

static void forget(void *user)
{
    struct exchange *x = user;

    serve_choices_leave(&x->choices, server.setup->backend);
    if (x->asked != NULL) {
        server.n_left += serve_asked_leave(x->asked);
        x->asked = NULL;
    }
    server.body_bytes -= x->body_bytes;
    x->body_bytes = 0;
    serve_text_free(&x->body);
    serve_text_free(&x->out);
    x->said = 0;
    x->error.status = 0;
    x->fields[0] = '\0';
}

/* Answers with the whole body in x->out. */
static void answer(struct exchange *x, int status, const char *type)
{
    const struct http_answer a = {
        .status = status,
        .type = type,
        .fields = x->fields,
        .bytes = x->out.n,
        .closes = x->out.failed || x->few || status == 408 || status == 413 ||
                  x->c->request.body_bytes > SERVE_BODY_BYTES,
    };

    http_connection_answer(x->c, &a);
}

static void answer_error(struct exchange *x)
{
    enum serve_dialect dialect = x->page != NULL ? x->page->dialect : SERVE_COMPLETIONS;

    serve_text_free(&x->out);
    serve_writer_of(dialect)->error(&x->out, &x->error);
    serve_head_add_status(x->fields, x->error.status, serve_page_methods(x->page));
    answer(x, x->error.status, "application/json");
}

static size_t write_more(void *user, char *to, size_t room, bool *last, bool *failed)
{
    struct exchange *x = user;
    size_t n;

    if (x->choices.n != 0 && x->choices.streams && x->out.n == 0) {
        serve_choices_say(&x->choices, &x->out);
    }
    n = x->out.n - x->said < room ? x->out.n - x->said : room;
    if (n != 0) {
        memcpy(to, x->out.bytes + x->said, n);
    }
    x->said += n;
    if (x->said == x->out.n) {
        x->out.n = x->said = 0;
    }
    *last = x->out.n == 0 && (x->choices.n == 0 || x->choices.ended);
    *failed = x->out.failed;
    return n;
}

/* Sends more text of the jobs, if there is any. */
static void answer_choices(struct exchange *x)
{
    const struct serve_writer *w = serve_writer_of(x->choices.answer.dialect);
    const struct http_answer stream = {
        .status = 200, .type = w->stream_type, .fields = x->fields, .streams = true
    };

    if (x->c->answered || !serve_choices_begun(&x->choices, &x->error)) {
        return;
    }
    if (x->error.status != 0) {
        serve_choices_leave(&x->choices, server.setup->backend);
        answer_error(x);
    } else if (x->choices.streams) {
        http_connection_answer(x->c, &stream);
    } else {
        serve_choices_say(&x->choices, &x->out);
        answer(x, 200, "application/json");
    }
}

/* ---- requests are read and submitted --------------------------------------------------------- */

static void submit(struct exchange *x)
{
    const struct api_answer as = { .kind = x->page->kind,
                                   .number = ++server.n_requests,
                                   .created = (int64_t)time(NULL),
                                   .model = server.setup->defaults.model,
                                   .dialect = x->page->dialect };

    x->asked = serve_asked_begin(server.setup->backend, &as, &x->body, &server.setup->defaults);
    if (x->asked == NULL) {
        (void)api_refuse(&x->error, 500, NULL, NULL, "out of memory");
        answer_error(x);
    }
}

/* Continues with a request that has been read. */
static void take_asked(struct exchange *x)
{
    if (!serve_asked_take(x->asked, &x->choices, &x->error)) {
        return;
    }
    x->asked = NULL;
    if (x->error.status != 0) {
        answer_error(x);
    }
}

/* Answers a POST that does not need a worker: one that loads another model for all later requests,
 * for example. */
static void post(struct exchange *x)
{
    if (serve_page_post(&x->out, x->page->page, server.setup->backend, &x->body,
                        server.setup->defaults.model, &x->error)) {
        answer(x, 200, "application/json");
    } else {
        answer_error(x);
    }
}

/* ---- what comes in --------------------------------------------------------------------------- */

/* Copies a header field's value to text; "" if the field is absent or too long. False: it is
 * absent. */
static bool field(const struct exchange *x, const char *name, char text[NAME_BYTES])
{
    size_t n;
    const char *value = http_connection_field(x->c, name, &n);

    text[0] = '\0';
    if (value != NULL && n < NAME_BYTES) {
        memcpy(text, value, n);
        text[n] = '\0';
    }
    return value != NULL;
}

static bool may_ask(struct exchange *x, const struct http_request *r)
{
    char host[NAME_BYTES] = "", origin[NAME_BYTES], authorization[NAME_BYTES], key[NAME_BYTES];
    struct serve_caller caller = { .path = x->page->path,
                                   .host = http_request_is_nameless(r) ? NULL : host,
                                   .authorization = authorization,
                                   .key = key,
                                   .preflight = r->method == HTTP_IS_OPTIONS };

    if (r->authority_bytes < sizeof host) {
        memcpy(host, r->authority, r->authority_bytes);
        host[r->authority_bytes] = '\0';
    }
    (void)field(x, "authorization", authorization);
    (void)field(x, "x-api-key", key);
    caller.origin = field(x, "origin", origin) ? origin : NULL;
    if (caller.origin != NULL && serve_is_allowed(origin, &server.setup->guard)) {
        serve_head_add_origin(x->fields, origin);
    }
    return serve_may_ask(&caller, &server.setup->guard, &x->error);
}

/* Answers a browser that asks whether a page of another site may send a request with a certain
 * method and header fields. */
static void answer_options(struct exchange *x)
{
    const struct http_answer a = { .status = 204, .fields = x->fields };
    char fields[NAME_BYTES], unused[NAME_BYTES];

    serve_head_add_status(x->fields, 405, serve_page_methods(x->page));
    if (field(x, "origin", unused) && field(x, "access-control-request-method", unused)) {
        (void)field(x, "access-control-request-headers", fields);
        serve_head_add_preflight(x->fields, fields,
                                 field(x, "access-control-request-private-network", unused));
    }
    http_connection_answer(x->c, &a);
}

/* Answers a GET. Ollama's clients read / to see whether the server is there; others get the page
 * with the chat. */
static void get(struct exchange *x)
{
    bool home = x->page->page == SERVE_PAGE_HOME;
    char agent[NAME_BYTES];
    const char *type;

    if (home && field(x, "user-agent", agent) && strncmp(agent, "ollama", 6) == 0) {
        x->page = &serve_page_heartbeat;
    } else if (home) {
        serve_head_add(x->fields, "content-security-policy", serve_page_policy());
    }
    type = serve_page_write(&x->out, x->page->page, server.setup->backend,
                            server.setup->defaults.model, server.n_left);
    answer(x, 200, type);
}

static void upgrade(struct exchange *x)
{
    const char *error_message;
    int status = http_connection_upgrade(x->c, &error_message);

    if (status != 0) {
        (void)api_refuse(&x->error, status, NULL, NULL, "%s", error_message);
        answer_error(x);
    }
}

/* True if a request does not get its page's answer; x->error then has the error. */
static bool is_refused(struct exchange *x, const struct http_request *r)
{
    bool reads = r->method == HTTP_IS_GET || r->method == HTTP_IS_HEAD;

    if (!may_ask(x, r)) {
        return true;
    }
    if (x->few && x->page->page != SERVE_PAGE_HEALTH) {
        (void)api_refuse(&x->error, 503, NULL, "full", "too many connections: try again");
    } else if (serve_page_takes(x->page, r->path, server.setup->defaults.model, reads,
                                r->method == HTTP_IS_POST, r->method == HTTP_IS_OPTIONS,
                                &x->error) &&
               r->method != HTTP_IS_OPTIONS && r->body_bytes > SERVE_BODY_BYTES) {
        (void)api_refuse(&x->error, 413, NULL, NULL, "the body is longer than %d bytes",
                         SERVE_BODY_BYTES);
    }
    return x->error.status != 0;
}

static void take_head(void *user, const struct http_request *r)
{
    struct exchange *x = user;

    forget(x);
    serve_head_begin(x->fields);
    x->page = serve_page_find(strcmp(r->path, "*") == 0 ? "/" : r->path);
    if (is_refused(x, r)) {
        answer_error(x);
    } else if (r->method == HTTP_IS_OPTIONS) {
        answer_options(x);
    } else if (x->page->page == SERVE_PAGE_SOCKET) {
        upgrade(x);
    } else if (!x->page->posts) {
        get(x);
    }
}

static bool take_body(void *user, const char *bytes, size_t n)
{
    struct exchange *x = user;

    if (x->body.n + n > SERVE_BODY_BYTES) {
        (void)api_refuse(&x->error, 413, NULL, NULL, "the body is longer than %d bytes",
                         SERVE_BODY_BYTES);
    } else if (server.body_bytes + n > BODIES_BYTES) {
        (void)api_refuse(&x->error, 503, NULL, "full", "too many bodies at once: try again");
    } else {
        server.body_bytes += n;
        x->body_bytes += n;
        return serve_text_add(&x->body, bytes, n);
    }
    serve_text_free(&x->body);
    answer_error(x);
    return true;
}

static void take_whole(void *user)
{
    struct exchange *x = user;

    if (x->page->page == SERVE_PAGE_ASK) {
        submit(x);
    } else {
        post(x);
    }
}

static void take_wrong(void *user, int status, const char *error_message)
{
    struct exchange *x = user;
    char headed =
        x->fields[0]; /* the request's head was right, so an allowed page may read this error too */

    forget(x);
    x->fields[0] = headed;
    if (headed == '\0') {
        serve_head_begin(x->fields);
    }
    (void)api_refuse(&x->error, status, NULL, NULL, "%s", error_message);
    answer_error(x);
}

static void end_late(void *user)
{
    take_wrong(user, 408, "the request arrives too slowly");
}

/* ---- WebSockets, and connections -------------------------------------------------------------- */

static void open_socket(void *user)
{
    struct exchange *x = user;

    x->socket = serve_ws_open(server.setup);
    if (x->socket == NULL) {
        http_frames_end(&x->c->frames, HTTP_CLOSE_FAILED);
    }
}

static uint16_t take_message(void *user, const char *bytes, size_t n, bool last, bool text)
{
    struct exchange *x = user;
    uint16_t code = x->socket != NULL ? serve_ws_take(x->socket, bytes, n, last, text)
                                      : HTTP_CLOSE_FAILED;

    x->c->held = x->socket != NULL && serve_ws_is_reading(x->socket);
    return code;
}

static const char *say_message(void *user, size_t *n)
{
    const struct exchange *x = user;

    return x->socket != NULL ? serve_ws_say(x->socket, n) : NULL;
}

static void end_message(void *user)
{
    serve_ws_said(((struct exchange *)user)->socket);
}

static void open_exchange(void *user, struct http_connection *c, bool few)
{
    struct exchange *x = user;

    x->c = c;
    x->few = few;
}

static void close_exchange(void *user)
{
    struct exchange *x = user;

    forget(x);
    if (x->socket != NULL) {
        serve_ws_leave(x->socket);
    }
}

static void wake_exchange(void *user)
{
    struct exchange *x = user;

    if (x->socket != NULL) {
        if (!serve_ws_woken(x->socket)) {
            http_frames_end(&x->c->frames, HTTP_CLOSE_FAILED);
        }
        x->c->held = serve_ws_is_reading(x->socket);
        return;
    }
    if (x->asked != NULL) {
        take_asked(x);
    }
    if (x->asked == NULL && x->choices.n != 0) {
        answer_choices(x);
    }
}

static bool is_busy(const void *user)
{
    const struct exchange *x = user;

    return x->asked != NULL || x->choices.n != 0 ||
           (x->socket != NULL && serve_ws_is_busy(x->socket));
}

/* ---- the server ------------------------------------------------------------------------------ */

static const struct http_site site = {
    .head = take_head,
    .body = take_body,
    .whole = take_whole,
    .wrong = take_wrong,
    .more = write_more,
    .over = forget,
    .opened = open_socket,
    .message = take_message,
    .say = say_message,
    .said = end_message,
};

static void end_serving(int number)
{
    (void)number;
    serve_sockets_end();
}

bool serve_http_is_built(void)
{
    return true;
}

bool serve_http_open(struct serve_setup *setup)
{
    const struct serve_sockets_setup sockets = {
        .address = setup->address,
        .port = setup->port,
        .site = &site,
        .user_bytes = sizeof(struct exchange),
        .opened = open_exchange,
        .closed = close_exchange,
        .woken = wake_exchange,
        .is_busy = is_busy,
        .late = end_late,
    };

    server.setup = setup;
    return serve_sockets_open(&sockets);
}

void serve_http_wake(void *unused)
{
    (void)unused;
    serve_sockets_wake();
}

bool serve_http_run(void)
{
    const struct serve_wake wake = { NULL, serve_http_wake };
    char url[128];
    bool good;

    if (!serve_workers_open(wake)) {
        fprintf(stderr, "ingot: no thread could be started\n");
        return false;
    }
    ending_signals_take(end_serving);
    serve_sockets_url(url, sizeof url);
    printf("serving %s at %s\n", name_shown(server.setup->defaults.model), url);
    fflush(stdout);
    good = serve_sockets_run();
    serve_workers_close();
    return good;
}

void serve_http_close(void)
{
    serve_sockets_close();
}
#endif
