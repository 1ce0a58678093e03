#include "runtime/http/http_range.h"

#include <string.h>

#include "runtime/http/http_fields.h"

static const char scheme[] = "http://", secure[] = "https://";

/* ---- the address ------------------------------------------------------------------------------ */

bool http_is_address(const char *text)
{
    return strncmp(text, scheme, sizeof scheme - 1) == 0 ||
           strncmp(text, secure, sizeof secure - 1) == 0;
}

/* Read the host, which begins at `at` and ends before `end`. Returns false if there is no host. */
static bool read_host(struct http_address *a, const char *at, const char *end)
{
    /* RFC 3986, section 3.2.2: an IPv6 address is in brackets, because it has colons. */
    a->is_ipv6 = *at == '[';
    if (a->is_ipv6 && (end - at < 3 || end[-1] != ']')) {
        return false;
    }
    at += a->is_ipv6;
    end -= a->is_ipv6;
    if (at == end || (size_t)(end - at) >= sizeof a->host) {
        return false;
    }
    memcpy(a->host, at, (size_t)(end - at));
    a->host[end - at] = '\0';
    for (const char *c = a->host; *c != '\0'; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');

        if (!letter && (*c < '0' || *c > '9') && *c != '-' && *c != '.' &&
            !(a->is_ipv6 && *c == ':')) {
            return false;
        }
    }
    return true;
}

/* Read a port's digits from `at` to before `end`. Returns false if they are not a valid port. */
static bool read_port(struct http_address *a, const char *at, const char *end)
{
    uint32_t port = 0;

    for (; at < end && *at >= '0' && *at <= '9' && port <= UINT16_MAX; at++) {
        port = 10 * port + (uint32_t)(*at - '0');
    }
    a->port = (uint16_t)port;
    return at == end && port != 0 && port <= UINT16_MAX;
}

const char *http_address_read(struct http_address *a, const char *text)
{
    static const char how[] = "the address of a model is http://HOST/PATH or http://HOST:PORT/PATH";
    const char *host = text + sizeof scheme - 1, *end, *colon;

    memset(a, 0, sizeof *a);
    if (strncmp(text, secure, sizeof secure - 1) == 0) {
        return "a board speaks http:// and not https://, so the store has to give the file "
               "without TLS";
    }
    if (strncmp(text, scheme, sizeof scheme - 1) != 0 || strlen(text) >= HTTP_ADDRESS_BYTES) {
        return how;
    }
    /* The address is copied to a line of the request as it is. */
    for (const char *c = text; *c != '\0'; c++) {
        if (*c <= ' ' || *c > '~' || *c == '#' || *c == '"') {
            return "the address of a model has a character that has to be written as % and two "
                   "hexadecimal digits";
        }
    }
    end = strchr(host, '/');
    if (end == NULL || end[1] == '\0') {
        return how;
    }
    a->path = end;
    a->port = HTTP_PORT;
    colon = end;
    while (colon > host && colon[-1] != ':' && colon[-1] != ']') {
        colon--;
    }
    if (colon > host && colon[-1] == ':') {
        if (!read_port(a, colon, end)) {
            return how;
        }
        end = colon - 1;
    }
    return read_host(a, host, end) ? NULL : how;
}

/* ---- the request ------------------------------------------------------------------------------ */

/* A text that is written part by part. Parts that do not fit would be left out, but the sizes in
 * the header prevent this. */
struct text {
    char *to;
    size_t n;
};

static void put(struct text *t, const char *from)
{
    size_t n = strlen(from), room = HTTP_QUESTION_BYTES - 1 - t->n;

    n = n < room ? n : room;
    memcpy(t->to + t->n, from, n);
    t->n += n;
    t->to[t->n] = '\0';
}

static void put_number(struct text *t, uint64_t value)
{
    char digits[24];
    size_t at = sizeof digits - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    put(t, digits + at);
}

size_t http_range_ask(char text[HTTP_QUESTION_BYTES], const struct http_address *a,
                      const struct http_version *version, uint64_t first, uint64_t n)
{
    struct text t = { .to = text };

    put(&t, "GET ");
    put(&t, a->path);
    put(&t, " HTTP/1.1\r\nHost: ");
    put(&t, a->is_ipv6 ? "[" : "");
    put(&t, a->host);
    put(&t, a->is_ipv6 ? "]" : "");
    if (a->port != HTTP_PORT) {
        put(&t, ":");
        put_number(&t, a->port);
    }
    put(&t, "\r\nUser-Agent: Ingot\r\nAccept-Encoding: identity\r\nRange: bytes=");
    put_number(&t, first);
    put(&t, "-");
    put_number(&t, first + n - 1);
    /* RFC 9110, section 13.1.5: if the contents have changed, the server sends all of them, with
     * status 200. If-Range may not have a weak tag, so the date is used instead. */
    if (version->tag[0] == '"' || version->date[0] != '\0') {
        put(&t, "\r\nIf-Range: ");
        put(&t, version->tag[0] == '"' ? version->tag : version->date);
    }
    put(&t, "\r\n\r\n");
    return t.n;
}

/* ---- fields of the answer --------------------------------------------------------------------- */

static int fail(struct http_range *r, enum http_range_state state, const char *error_message)
{
    r->state = state;
    r->error_message = error_message;
    r->keeps = false;
    return HPE_USER;
}

static int wrong(struct http_range *r, const char *error_message)
{
    return fail(r, HTTP_RANGE_WRONG, error_message);
}

static void add(char *to, size_t room, size_t *n, const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, (*n)++) {
        if (*n < room) {
            to[*n] = from[i];
        }
    }
}

static int on_name(llhttp_t *parser, const char *at, size_t n)
{
    struct http_range *r = parser->data;

    add(r->name, sizeof r->name, &r->name_bytes, at, n);
    return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t n)
{
    struct http_range *r = parser->data;

    add(r->value, sizeof r->value, &r->value_bytes, at, n);
    return 0;
}

static bool is_named(const struct http_range *r, const char *name)
{
    return r->name_bytes <= sizeof r->name && http_same(r->name, r->name_bytes, name);
}

/* Read the digits from *at on. Returns false if there are no digits or too many. */
static bool read_number(const char **at, uint64_t *value)
{
    const char *begin = *at;

    for (*value = 0; **at >= '0' && **at <= '9' && *at - begin < 19; (*at)++) {
        *value = 10 * *value + (uint64_t)(**at - '0');
    }
    return *at != begin && *at - begin < 19;
}

/* Read "bytes FIRST-LAST/TOTAL" (RFC 9110, section 14.4). */
static bool read_range(struct http_range *r)
{
    const char *at = r->value;

    if (strncmp(at, "bytes ", 6) != 0) {
        return false;
    }
    at += 6;
    if (!read_number(&at, &r->from) || *at++ != '-' || !read_number(&at, &r->to_last) ||
        *at++ != '/' || !read_number(&at, &r->seen.bytes)) {
        return false;
    }
    return *at == '\0' && r->from <= r->to_last && r->to_last < r->seen.bytes;
}

static int on_value_end(llhttp_t *parser)
{
    struct http_range *r = parser->data;
    bool fits = r->value_bytes < sizeof r->value;
    int result = 0;

    /* RFC 9110, section 5.5: white space after a value is not a part of it. */
    while (fits && r->value_bytes != 0 &&
           (r->value[r->value_bytes - 1] == ' ' || r->value[r->value_bytes - 1] == '\t')) {
        r->value_bytes--;
    }
    r->value[fits ? r->value_bytes : sizeof r->value - 1] = '\0';
    if (is_named(r, "content-range") && llhttp_get_status_code(parser) == 206) {
        /* A second field of this name is refused, because two readers could take different ones. */
        if (r->has_range || !fits || !read_range(r)) {
            result = wrong(r, "the store's Content-Range is not \"bytes FIRST-LAST/TOTAL\"");
        }
        r->has_range = true;
    } else if (is_named(r, "etag") && fits) {
        memcpy(r->seen.tag, r->value, sizeof r->seen.tag);
    } else if (is_named(r, "last-modified") && fits) {
        memcpy(r->seen.date, r->value, sizeof r->seen.date);
    } else if (is_named(r, "content-encoding") &&
               !http_same(r->value, r->value_bytes, "identity")) {
        r->has_coding = true;
    }
    r->name_bytes = r->value_bytes = 0;
    return result;
}

/* ---- the head --------------------------------------------------------------------------------- */

/* Judge the status of an answer that has no range. */
static int judge_status(struct http_range *r)
{
    static const char changed[] =
        "the file on the store has changed since it was opened: load the model again";
    bool opened = r->known->bytes != 0;

    switch (r->status) {
    case 200:
        return wrong(r,
                     opened
                         ? changed
                         : "the store gives the whole file and not the range that was asked for: "
                           "it has to support Range requests, as nginx does");
    case 401:
    case 403: return wrong(r, "the store does not let us read the file");
    case 404:
    case 410: return wrong(r, "the store has no such file");
    case 416: return wrong(r, opened ? changed : "the file on the store is empty");
    default: break;
    }
    if (r->status / 100 == 3) {
        return wrong(r, "the store names another address of the file: use that one");
    }
    /* The store may recover from these: a timeout, too many requests, or an error of its own. */
    if (r->status == 408 || r->status == 429 || r->status / 100 == 5) {
        return fail(r, HTTP_RANGE_BROKEN, "the store cannot answer now");
    }
    return wrong(r, "the store answers with a status that does not fit a file");
}

static bool same_text(const char *known, const char *seen)
{
    return known[0] == '\0' || strcmp(known, seen) == 0;
}

/* Return true if the answer is about the version that was opened. RFC 9110, section 15.3.7: the
 * answer to If-Range should leave out the date that the client already has, but not the tag. */
static bool is_same_version(const struct http_version *known, const struct http_version *seen)
{
    bool dateless = seen->date[0] == '\0' && known->tag[0] != '\0';

    return known->bytes == seen->bytes && same_text(known->tag, seen->tag) &&
           (dateless || same_text(known->date, seen->date));
}

static int check_head(struct http_range *r)
{
    uint64_t left = r->bytes - r->got;

    if (!r->has_range) {
        return wrong(r, "the store's answer has no Content-Range");
    }
    if (r->has_coding) {
        return wrong(r, "the store compresses the file: switch that off for it");
    }
    if (r->known->bytes != 0 && !is_same_version(r->known, &r->seen)) {
        return wrong(r,
                     "the file on the store has changed since it was opened: load the model again");
    }
    if (r->from != r->first + r->got || r->to_last - r->from + 1 != left) {
        return wrong(r, "the store's range is not the one that was asked for");
    }
    return 0;
}

static int on_head(llhttp_t *parser)
{
    struct http_range *r = parser->data;

    /* RFC 9110, section 15.2: interim answers have no body. */
    if (llhttp_get_status_code(parser) / 100 == 1 && llhttp_get_status_code(parser) != 101) {
        return 0;
    }
    r->status = llhttp_get_status_code(parser);
    r->keeps = llhttp_should_keep_alive(parser) != 0;
    if (r->status != 206) {
        return judge_status(r);
    }
    if (check_head(r) != 0) {
        return HPE_USER;
    }
    if ((parser->flags & F_CONTENT_LENGTH) != 0 && parser->content_length != r->bytes - r->got) {
        return wrong(r, "the store's Content-Length does not fit its Content-Range");
    }
    return 0;
}

/* ---- the body --------------------------------------------------------------------------------- */

static int on_body(llhttp_t *parser, const char *at, size_t n)
{
    struct http_range *r = parser->data;

    uint64_t room = r->bytes - r->got;
    size_t fits = n < room ? n : (size_t)room;

    memcpy(r->to + r->got, at, fits);
    r->got += fits;
    /* If there is no length, the end of the connection ends the body; but stop at the last wanted
     * byte. */
    if (r->got == r->bytes && llhttp_message_needs_eof(parser)) {
        r->state = HTTP_RANGE_DONE;
        r->keeps = false;
        return HPE_USER;
    }
    if (n > fits) {
        return wrong(r, "the store sends more bytes than its Content-Range says");
    }
    return 0;
}

static int on_complete(llhttp_t *parser)
{
    struct http_range *r = parser->data;

    if (r->status == 0) { /* this was an interim answer */
        r->name_bytes = r->value_bytes = 0;
        r->has_range = r->has_coding = false;
        return 0;
    }
    if (r->got != r->bytes) {
        return wrong(r, "the store sends fewer bytes than its Content-Range says");
    }
    r->state = HTTP_RANGE_DONE;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_header_value_complete = on_value_end,
    .on_headers_complete = on_head,
    .on_body = on_body,
    .on_message_complete = on_complete,
};

void http_range_begin(struct http_range *r, const struct http_version *known, uint64_t first,
                      uint64_t n, uint64_t got, uint8_t *to)
{
    memset(r, 0, sizeof *r);
    llhttp_init(&r->parser, HTTP_RESPONSE, &settings);
    r->parser.data = r;
    r->known = known;
    r->first = first;
    r->bytes = n;
    r->got = got;
    r->to = to;
}

/* Return how many bytes llhttp may get without reading a head that is longer than the bound. */
static size_t next_bytes(const struct http_range *r, size_t n)
{
    size_t room = HTTP_ANSWER_HEAD_BYTES - r->head_bytes;

    return r->status != 0 || n < room ? n : room;
}

void http_range_take(struct http_range *r, const char *bytes, size_t n)
{
    while (n != 0 && r->state == HTTP_RANGE_READS) {
        size_t part = next_bytes(r, n);
        enum llhttp_errno e = llhttp_execute(&r->parser, bytes, part);

        if (r->status == 0) {
            r->head_bytes += part;
        }
        if (r->state == HTTP_RANGE_DONE) {
            /* Bytes after the answer were not asked for. */
            r->keeps = r->keeps && llhttp_get_error_pos(&r->parser) == bytes + n;
        } else if (r->state == HTTP_RANGE_READS && e != HPE_OK) {
            (void)fail(r, HTTP_RANGE_BROKEN, "the store's answer is not HTTP");
        } else if (r->status == 0 && r->head_bytes == HTTP_ANSWER_HEAD_BYTES) {
            (void)wrong(r, "the head of the store's answer is longer than 8 KiB");
        }
        bytes += part;
        n -= part;
    }
}

void http_range_end(struct http_range *r)
{
    if (r->state == HTTP_RANGE_READS) {
        (void)fail(r, HTTP_RANGE_BROKEN, "the store has closed the connection");
    }
}
