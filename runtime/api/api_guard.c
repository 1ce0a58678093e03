#include "runtime/api/api_guard.h"

#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Return true if the text a (n bytes) begins with b, ignoring case. */
static bool begins(const char *a, size_t n, const char *b)
{
    size_t m = strlen(b);

    if (n < m) {
        return false;
    }
    for (size_t i = 0; i < m; i++) {
        if (lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return true;
}

static bool same(const char *a, size_t n, const char *b)
{
    return n == strlen(b) && begins(a, n, b);
}

bool api_has_token(const char *authorization, size_t bytes, const char *token)
{
    static const char scheme[] = "bearer ";
    size_t n = strlen(token), at = sizeof scheme - 1;
    unsigned differs;

    if (!begins(authorization, bytes, scheme)) {
        return false;
    }
    while (at < bytes && authorization[at] == ' ') {
        at++;
    }
    differs = n != bytes - at;
    for (size_t i = 0; i < bytes - at; i++) {
        differs |= (unsigned char)(authorization[at + i] ^ token[n != 0 ? i % n : 0]);
    }
    return differs == 0 && n != 0;
}

/* Return how many bytes of a host come before its port. */
static size_t host_bytes_of(const char *host, size_t bytes)
{
    size_t n = 0;

    if (bytes != 0 && host[0] == '[') {
        while (n < bytes && host[n] != ']') {
            n++;
        }
        return n < bytes ? n + 1 : 0;
    }
    while (n < bytes && host[n] != ':') {
        n++;
    }
    return n;
}

/* Return true if a host has only digits and points. Such a host is not a name, because the last
 * label of a DNS name is never a number (RFC 3696, section 2). */
static bool is_number(const char *host, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (host[i] != '.' && (host[i] < '0' || host[i] > '9')) {
            return false;
        }
    }
    return n != 0;
}

bool api_is_own_host(const char *host, size_t bytes, const char *name)
{
    size_t n = host_bytes_of(host, bytes), m = strlen(name);

    if (n == 0) {
        return false;
    }
    return host[0] == '[' || is_number(host, n) || same(host, n, "localhost") ||
           same(host, n, name) || (begins(host, n, name) && same(host + m, n - m, ".local"));
}

/* Return the length of a host without its port, if the port is the scheme's default. */
static size_t without_port(const char *host, size_t bytes, const char *port)
{
    size_t n = strlen(port);

    return bytes > n && same(host + bytes - n, n, port) ? bytes - n : bytes;
}

static bool same_host(const char *a, const char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return bytes != 0;
}

bool api_is_own_origin(const char *origin, size_t bytes, const char *host, size_t host_bytes)
{
    static const struct {
        const char *scheme, *port;
    } own[] = { { "http://", ":80" }, { "https://", ":443" } };

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        size_t skip = strlen(own[i].scheme);

        if (begins(origin, bytes, own[i].scheme)) {
            size_t n = without_port(origin + skip, bytes - skip, own[i].port);

            return n == without_port(host, host_bytes, own[i].port) &&
                   same_host(origin + skip, host, n);
        }
    }
    return false;
}
