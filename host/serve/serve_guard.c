#include "host/serve/serve_guard.h"

#include <string.h>
#include <strings.h>

/* ---- names and origins ----------------------------------------------------------------------- */

/* The parts of "name:80", "[::1]:80" or "name". */
struct authority {
    const char *name;
    size_t bytes;
    unsigned port; /* 0: none is named */
};

/* Returns false if the text is not an authority. */
static bool read_authority(const char *text, struct authority *a)
{
    const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
    unsigned long port = 0;

    *a = (struct authority){ .name = text };
    a->bytes = end != NULL ? (size_t)(end + 1 - text) : strcspn(text, ":");
    text += a->bytes;
    if (*text == '\0') {
        return a->bytes != 0;
    }
    if (*text != ':' || text[1] == '\0') {
        return false;
    }
    for (text++; *text != '\0'; text++) {
        port = port * 10 + (unsigned long)(*text - '0');
        if (*text < '0' || *text > '9' || port > 65535) {
            return false;
        }
    }
    a->port = (unsigned)port;
    return a->bytes != 0 && port != 0;
}

static bool same_name(const struct authority *a, const struct authority *b)
{
    return a->bytes == b->bytes && strncasecmp(a->name, b->name, a->bytes) == 0;
}

/* Splits an origin into its scheme (of *scheme bytes) and its authority. Returns false for an
 * origin without authority, such as "null". */
static bool read_origin(const char *origin, size_t *scheme, struct authority *a)
{
    const char *mark = strstr(origin, "://");

    *scheme = mark != NULL ? (size_t)(mark - origin) : 0;
    return *scheme != 0 && strpbrk(mark + 3, "/?#@, ") == NULL && read_authority(mark + 3, a);
}

/* Returns the port or, if 0 is given, the scheme's default port (RFC 6454, section 4). 0: none. */
static unsigned port_of(const char *scheme, size_t bytes, unsigned port)
{
    if (port != 0) {
        return port;
    }
    if (bytes == 4 && strncasecmp(scheme, "http", 4) == 0) {
        return 80;
    }
    return bytes == 5 && strncasecmp(scheme, "https", 5) == 0 ? 443 : 0;
}

/* True if the page is this server's own, which has http, or https through a proxy. */
static bool is_own(const char *origin, const char *host)
{
    struct authority page, self;
    size_t scheme;
    unsigned port;

    if (!read_origin(origin, &scheme, &page) || !read_authority(host, &self)) {
        return false;
    }
    port = port_of(origin, scheme, 0);
    return port != 0 && same_name(&page, &self) &&
           (page.port != 0 ? page.port : port) == (self.port != 0 ? self.port : port);
}

static bool same_origin(const char *a, const char *b)
{
    struct authority of_a, of_b;
    size_t scheme_a, scheme_b;

    if (!read_origin(a, &scheme_a, &of_a) || !read_origin(b, &scheme_b, &of_b)) {
        return strcmp(a, b) == 0; /* an origin without authority, such as "null" */
    }
    return scheme_a == scheme_b && strncasecmp(a, b, scheme_a) == 0 && same_name(&of_a, &of_b) &&
           port_of(a, scheme_a, of_a.port) == port_of(b, scheme_b, of_b.port);
}

bool serve_is_allowed(const char *origin, const struct serve_guard *g)
{
    for (uint32_t i = 0; i < g->n_origins; i++) {
        if (strcmp(g->origins[i], "*") == 0 || same_origin(g->origins[i], origin)) {
            return true;
        }
    }
    return false;
}

bool serve_allow_origin(struct serve_guard *g, const char *origin)
{
    struct authority a;
    size_t scheme;

    if (g->n_origins == SERVE_ALLOWED_MOST ||
        (strcmp(origin, "*") != 0 && strcmp(origin, "null") != 0 &&
         !read_origin(origin, &scheme, &a))) {
        return false;
    }
    g->origins[g->n_origins++] = origin;
    return true;
}

bool serve_allow_host(struct serve_guard *g, const char *host)
{
    struct authority a;

    if (g->n_hosts == SERVE_ALLOWED_MOST || strpbrk(host, "/?#@, *") != NULL ||
        !read_authority(host, &a)) {
        return false;
    }
    g->hosts[g->n_hosts++] = host;
    return true;
}

/* ---- who may ask ----------------------------------------------------------------------------- */

/* True if the name is "127.0.0.1" or another number of 127.0.0.0/8. */
static bool is_loopback_number(const struct authority *a)
{
    unsigned parts = 1;

    if (a->bytes < 4 || strncmp(a->name, "127.", 4) != 0) {
        return false;
    }
    for (size_t i = 0; i < a->bytes; i++) {
        parts += a->name[i] == '.';
        if ((a->name[i] < '0' || a->name[i] > '9') && a->name[i] != '.') {
            return false;
        }
    }
    return parts == 4;
}

/* True if the name means this computer and cannot be anyone else's ("localhost:8080", "127.0.0.1",
 * "[::1]:80"), or the owner allows it. An allowed name without a port allows every port. */
static bool is_this_computer(const char *host, const struct serve_guard *g)
{
    static const char *const names[] = { "localhost", "[::1]" };
    struct authority a, b;

    if (!read_authority(host, &a)) {
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == a.bytes && strncasecmp(names[i], a.name, a.bytes) == 0) {
            return true;
        }
    }
    for (uint32_t i = 0; i < g->n_hosts; i++) {
        if (read_authority(g->hosts[i], &b) && same_name(&a, &b) &&
            (b.port == 0 || b.port == a.port)) {
            return true;
        }
    }
    return is_loopback_number(&a);
}

/* True if both texts are equal. Takes the same time, wherever the texts differ. */
static bool is_token(const char *given, const char *token)
{
    size_t n = strlen(token), n_given = strlen(given);
    unsigned differs = n != n_given;

    for (size_t i = 0; i < n_given; i++) {
        differs |= (unsigned)(given[i] ^ token[i < n ? i : 0]);
    }
    return differs == 0;
}

/* True if the field has the scheme "Bearer", in capitals or not, one or more spaces, and the token
 * (RFC 9110, section 11). */
static bool has_token(const char *authorization, const char *token)
{
    static const char bearer[] = "bearer";
    size_t n = sizeof bearer - 1;

    if (strncasecmp(authorization, bearer, n) != 0 || authorization[n] != ' ') {
        return false;
    }
    authorization += n;
    return is_token(authorization + strspn(authorization, " "), token);
}

bool serve_may_ask(const struct serve_caller *c, const struct serve_guard *g, struct api_error *e)
{
    if (g->token == NULL && c->host != NULL && !is_this_computer(c->host, g)) {
        return api_refuse(e, 403, NULL, "host",
                          "the Host header names another computer: start the server with "
                          "--allow-host %.80s if this is right",
                          c->host[0] != '\0' ? c->host : "NAME");
    }
    if (c->origin != NULL && (c->host == NULL || !is_own(c->origin, c->host)) &&
        !serve_is_allowed(c->origin, g)) {
        return api_refuse(e, 403, NULL, "origin",
                          "requests from other sites' pages are refused: start the server with "
                          "--allow-origin %.80s to allow this one",
                          c->origin[0] != '\0' ? c->origin : "ORIGIN");
    }
    if (g->token == NULL || c->preflight || strcmp(c->path, "/health") == 0 ||
        strcmp(c->path, "/") == 0) {
        return true;
    }
    return has_token(c->authorization, g->token) ||
           (c->key != NULL && c->key[0] != '\0' && is_token(c->key, g->token)) ||
           api_refuse(e, 401, NULL, "invalid_api_key",
                      "the Authorization header has to be Bearer and the token, or x-api-key the "
                      "token");
}
