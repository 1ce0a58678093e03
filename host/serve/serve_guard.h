/* Checks who may use `ingot serve`. */
#ifndef INGOT_HOST_SERVE_GUARD_H
#define INGOT_HOST_SERVE_GUARD_H

#include "host/api/serve_request.h"

enum { SERVE_ALLOWED_MOST = 16 };

/* The access that the owner allows. */
struct serve_guard {
    const char *
        token; /* token that callers need, except for /health and the page; NULL: on this computer, none is needed */
    const char *origins
        [SERVE_ALLOWED_MOST]; /* allowed pages of other sites; "*": all pages that have the token */
    const char *hosts[SERVE_ALLOWED_MOST]; /* names of this computer, in addition to its loopback
                                              names */
    uint32_t n_origins, n_hosts;
};

/* Header fields of a request; "": absent, or too long. */
struct serve_caller {
    const char *path, *authorization;
    const char *host;   /* NULL: the request names no host, so it does not come from a browser */
    const char *key;    /* token in x-api-key, as Anthropic's clients send it; NULL: absent */
    const char *origin; /* NULL: absent */
    bool preflight;     /* a browser's preflight, which has no token */
};

/* True if a request may be answered; else *e says why not. Other sites must not send requests from
 * somebody's browser, not even after pointing their own name at this computer. So an Origin must be
 * this server or an allowed page and, if there is no token, a Host must be a name of this
 * computer. */
bool serve_may_ask(const struct serve_caller *c, const struct serve_guard *g, struct api_error *e);

/* True if the owner allows an origin. */
bool serve_is_allowed(const char *origin, const struct serve_guard *g);

/* Adds an allowed page or name. False if the text is neither an origin ("http://localhost:3000",
 * "null", "*") nor a name ("board.lan", "board.lan:8080"), or there are too many. */
bool serve_allow_origin(struct serve_guard *g, const char *origin);
bool serve_allow_host(struct serve_guard *g, const char *host);

#endif
