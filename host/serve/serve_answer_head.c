#include "host/serve/serve_answer_head.h"

#include <stdio.h>
#include <string.h>

void serve_head_add(char fields[SERVE_FIELDS_BYTES], const char *name, const char *value)
{
    size_t n = strlen(fields), more = strlen(name) + strlen(value) + 4;

    if (n + more < SERVE_FIELDS_BYTES) {
        snprintf(fields + n, SERVE_FIELDS_BYTES - n, "%s: %s\r\n", name, value);
    }
}

void serve_head_begin(char fields[SERVE_FIELDS_BYTES])
{
    fields[0] = '\0';
    serve_head_add(fields, "cache-control", "no-store");
    serve_head_add(fields, "x-content-type-options", "nosniff");
}

void serve_head_add_status(char fields[SERVE_FIELDS_BYTES], int status, const char *methods)
{
    if (status == 401) {
        serve_head_add(fields, "www-authenticate", "Bearer");
    } else if (status == 405) {
        serve_head_add(fields, "allow", methods);
    } else if (status == 426) {
        serve_head_add(fields, "upgrade", "websocket");
        serve_head_add(fields, "sec-websocket-version", "13");
    } else if (status == 429 || status == 503) {
        serve_head_add(fields, "retry-after", "1");
    }
}

void serve_head_add_origin(char fields[SERVE_FIELDS_BYTES], const char *origin)
{
    serve_head_add(fields, "access-control-allow-origin", origin);
    serve_head_add(fields, "vary", "Origin");
}

void serve_head_add_preflight(char fields[SERVE_FIELDS_BYTES], const char *names,
                              bool private_network)
{
    serve_head_add(fields, "access-control-allow-methods", "GET, HEAD, POST, OPTIONS");
    if (names[0] != '\0') {
        serve_head_add(fields, "access-control-allow-headers", names);
    }
    if (private_network) {
        serve_head_add(fields, "access-control-allow-private-network", "true");
    }
    serve_head_add(fields, "access-control-max-age", "600");
}
