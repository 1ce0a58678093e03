#include "host/serve_guard.h"

#include <string.h>

/* "localhost:8080", "127.0.0.1", "[::1]:80": this computer, by a name that nobody else can give. */
static bool is_loopback(const char *host)
{
    static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);

        if (strncmp(host, names[i], n) == 0 && (host[n] == '\0' || host[n] == ':')) {
            return true;
        }
    }
    return false;
}

/* Takes as long wherever they differ. */
static bool is_token(const char *given, const char *token)
{
    size_t n = strlen(token), n_given = strlen(given);
    unsigned differs = n != n_given;

    for (size_t i = 0; i < n_given; i++) {
        differs |= (unsigned)(given[i] ^ token[i < n ? i : 0]);
    }
    return differs == 0;
}

bool serve_may_ask(const struct serve_caller *c, const char *token, struct serve_error *e)
{
    static const char http[] = "http://", bearer[] = "Bearer ";
    size_t n_http = sizeof http - 1, n_bearer = sizeof bearer - 1;

    if (token == NULL && !is_loopback(c->host)) {
        return serve_refuse(e, 403, NULL, "host", "the Host header names another computer");
    }
    if (c->origin != NULL &&
        (strncmp(c->origin, http, n_http) != 0 || strcmp(c->origin + n_http, c->host) != 0)) {
        return serve_refuse(e, 403, NULL, "origin", "pages of other sites may not ask");
    }
    if (token == NULL || strcmp(c->path, "/health") == 0 || strcmp(c->path, "/") == 0) {
        return true;
    }
    if (strncmp(c->authorization, bearer, n_bearer) != 0 ||
        !is_token(c->authorization + n_bearer, token)) {
        return serve_refuse(e, 401, NULL, "invalid_api_key",
                            "the Authorization header has to be Bearer and the token");
    }
    return true;
}
