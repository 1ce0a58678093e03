#include "runtime/http/http_request.h"

#include <string.h>

#include "runtime/http/http_fields.h"

/* ---- callbacks of llhttp --------------------------------------------------------------------- */

static int on_headers(llhttp_t *parser)
{
    struct http_request *r = parser->data;

    r->headed = true;
    r->keeps = llhttp_should_keep_alive(parser) != 0;
    /* The connection handles an upgrade after the body; llhttp treats the message like any
     * other. */
    parser->upgrade = 0;
    return 0;
}

static int on_chunk(llhttp_t *parser)
{
    struct http_request *r = parser->data;

    r->left = parser->content_length;
    r->last_chunk = r->left == 0;
    return 0;
}

static int on_complete(llhttp_t *parser)
{
    struct http_request *r = parser->data;

    r->complete = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_headers_complete = on_headers,
    .on_chunk_header = on_chunk,
    .on_message_complete = on_complete,
};

void http_request_reset(struct http_request *r)
{
    memset(r, 0, offsetof(struct http_request, text));
    memset((char *)r + offsetof(struct http_request, n), 0,
           sizeof *r - offsetof(struct http_request, n));
    llhttp_init(&r->parser, HTTP_REQUEST, &settings);
    r->parser.data = r;
}

bool http_request_begun(const struct http_request *r)
{
    return r->at != HTTP_AT_HEAD || r->n != 0;
}

static enum http_event refuse(struct http_request *r, int status, const char *error_message)
{
    r->at = HTTP_AT_ERROR;
    r->status = status;
    r->error_message = error_message;
    return HTTP_GOT_ERROR;
}

/* ---- the head -------------------------------------------------------------------------------- */

/* Read a length: only digits, few enough for 64 bits (RFC 9110, section 8.6). */
static bool read_length(const char *text, size_t n, uint64_t *value)
{
    *value = 0;
    if (n == 0 || n > 18) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        *value = *value * 10 + (uint64_t)(text[i] - '0');
    }
    return true;
}

/* Return the header fields after the request line, without the empty line at their end. */
static const char *fields_of(const struct http_request *r, size_t *n)
{
    const char *end = memchr(r->text, '\n', r->n);

    *n = r->n - (size_t)(end + 1 - r->text) - 2;
    return end + 1;
}

/* Read the framing (RFC 9112, section 6): one length, or chunks and no other coding. Unclear input
 * is refused, because a proxy may read it in another way. */
static bool read_framing(struct http_request *r, const char *fields, size_t n)
{
    size_t bytes, more;
    const char *length = http_field(fields, n, "content-length", 0, &bytes);
    const char *coding;

    /* Section 6.3, item 5: a wrong length cannot be recovered from. */
    if (length != NULL && (http_field(fields, n, "content-length", 1, &more) != NULL ||
                           !read_length(length, bytes, &r->body_bytes))) {
        return refuse(r, 400, "Content-Length has to be one number in decimal digits"), false;
    }
    /* No length and no coding: the request has no body (section 6.3, item 7). */
    coding = http_field(fields, n, "transfer-encoding", 0, &bytes);
    if (coding == NULL) {
        return true;
    }
    /* Section 6.3, item 3: a length and a coding at once may be request smuggling. */
    if (length != NULL) {
        return refuse(r, 400, "a request has Content-Length or Transfer-Encoding, not both"), false;
    }
    /* HTTP/1.0 has no codings, and lists of codings are not supported here. */
    if (r->is_1_0 || !http_same(coding, bytes, "chunked") ||
        http_field(fields, n, "transfer-encoding", 1, &more) != NULL) {
        return refuse(r, 400, "the only Transfer-Encoding that this server reads is chunked"),
               false;
    }
    r->chunked = true;
    return true;
}

/* A body that is compressed cannot be read (RFC 9110, section 8.4). */
static bool read_compression(struct http_request *r, const char *fields, size_t n)
{
    size_t bytes;
    const char *coding = http_field(fields, n, "content-encoding", 0, &bytes);

    if (coding != NULL && !http_same(coding, bytes, "identity")) {
        return refuse(r, 415, "this server does not read compressed bodies"), false;
    }
    return true;
}

/* Read the host; HTTP/1.1 has exactly one Host field (RFC 9112, section 3.2). */
static bool read_host(struct http_request *r, const char *fields, size_t n)
{
    size_t more;

    r->authority = http_field(fields, n, "host", 0, &r->authority_bytes);
    if (r->authority == NULL && !r->is_1_0) {
        return refuse(r, 400, "the Host header is missing"), false;
    }
    /* If there are two Host fields, two readers could take different ones. */
    if (http_field(fields, n, "host", 1, &more) != NULL) {
        return refuse(r, 400, "a request has to have one Host header"), false;
    }
    if (r->authority != NULL && !http_is_authority(r->authority, r->authority_bytes)) {
        return refuse(r, 400, "the Host header is not a host and a port"), false;
    }
    r->authority = r->authority != NULL ? r->authority : "";
    return true;
}

/* Return the length of "http://" or "https://", or 0 if the target has another form. */
static size_t scheme_bytes(const char *target, size_t n)
{
    if (n > 7 && http_same(target, 7, "http://")) {
        return 7;
    }
    return n > 8 && http_same(target, 8, "https://") ? 8 : 0;
}

/* Read the host of a whole address, from begin to end. This host replaces the Host field (RFC 9112,
 * section 3.2.2). Returns where the path begins, or NULL if the address names no host. */
static const char *read_address(struct http_request *r, const char *begin, const char *end)
{
    r->authority = begin;
    /* RFC 3986, section 3.2: the authority ends at the first "/", "?" or "#". */
    while (begin < end && *begin != '/' && *begin != '?' && *begin != '#') {
        begin++;
    }
    r->authority_bytes = (size_t)(begin - r->authority);
    if (r->authority_bytes == 0 || r->authority[0] == ':' ||
        !http_is_authority(r->authority, r->authority_bytes)) {
        refuse(r, 400, "the target of the request has to name a host, a port and no user");
        return NULL;
    }
    return begin;
}

/* Read the path from begin to end: "/path?query", or the "*" of OPTIONS. */
static bool read_path(struct http_request *r, const char *begin, const char *end)
{
    bool is_star = *begin == '*' && begin + 1 == end;

    /* RFC 9112, section 3.2.1: a request to an origin server names a path. */
    if (*begin != '/' && !is_star) {
        return refuse(r, 400, "the target of a request has to begin with /"), false;
    }
    /* Section 3.2.4: the star means the server as a whole. */
    if (is_star && r->method != HTTP_IS_OPTIONS) {
        return refuse(r, 400, "the target * goes with the method OPTIONS only"), false;
    }
    switch (http_decode_path(begin, (size_t)(end - begin), r->path, sizeof r->path)) {
    case HTTP_PATH_GOOD: return true;
    case HTTP_PATH_LONG:
        return refuse(r, 414, "the path of the request is longer than 511 bytes"), false;
    case HTTP_PATH_WRONG:
    default: return refuse(r, 400, "the path of the request is not well formed"), false;
    }
}

/* Read the target (RFC 9112, section 3.2): a path, the whole address as for a proxy, or a star. */
static bool read_target(struct http_request *r)
{
    const char *begin = memchr(r->text, ' ', r->n), *end;
    size_t scheme;

    /* The line has two spaces, which check_head_line() has checked. */
    begin++;
    end = memchr(begin, ' ', r->n - (size_t)(begin - r->text));
    scheme = scheme_bytes(begin, (size_t)(end - begin));
    if (scheme == 0) {
        return read_path(r, begin, end);
    }
    begin = read_address(r, begin + scheme, end);
    if (begin == NULL) {
        return false;
    }
    /* RFC 9112, section 3.2.2: the absolute form, as a client sends it to a proxy. */
    if (begin < end && *begin == '/') {
        return read_path(r, begin, end);
    }
    if (memchr(begin, '#', (size_t)(end - begin)) != NULL) {
        return refuse(r, 400, "the path of the request is not well formed"), false;
    }
    /* RFC 9110, section 4.2.3: an empty path is "/". */
    memcpy(r->path, "/", 2);
    return true;
}

static enum http_method read_method(const char *text)
{
    static const struct {
        const char *name;
        enum http_method method;
    } known[] = { { "GET ", HTTP_IS_GET },
                  { "HEAD ", HTTP_IS_HEAD },
                  { "POST ", HTTP_IS_POST },
                  { "OPTIONS ", HTTP_IS_OPTIONS },
                  { "PUT ", HTTP_IS_PUT } };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(text, known[i].name, strlen(known[i].name)) == 0) {
            return known[i].method;
        }
    }
    return HTTP_IS_OTHER;
}

static enum http_event end_head(struct http_request *r)
{
    size_t n;
    const char *fields = fields_of(r, &n);

    r->method = read_method(r->text);
    r->is_1_0 = r->parser.http_minor == 0;
    /* The framing comes first: without it nobody knows where the request ends. */
    if (!read_framing(r, fields, n) || !read_compression(r, fields, n) ||
        !read_host(r, fields, n) || !read_target(r)) {
        return HTTP_GOT_ERROR;
    }
    /* RFC 9110, section 10.1.1: an HTTP/1.0 client does not wait for 100 Continue. */
    r->expects_continue = !r->is_1_0 && http_field_has(fields, n, "expect", "100-continue");
    r->left = r->body_bytes;
    r->at = r->complete ? HTTP_AT_END : r->chunked ? HTTP_AT_LINE : HTTP_AT_BODY;
    return HTTP_GOT_HEAD;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum http_event say_wrong(struct http_request *r, enum llhttp_errno error)
{
    if (error == HPE_INVALID_CONTENT_LENGTH || error == HPE_UNEXPECTED_CONTENT_LENGTH) {
        return refuse(
            r, 400,
            "Content-Length has to be one number in decimal digits, without Transfer-Encoding");
    }
    if (error == HPE_INVALID_TRANSFER_ENCODING) {
        return refuse(r, 400, "the only Transfer-Encoding that this server reads is chunked");
    }
    if (error == HPE_INVALID_METHOD) {
        return refuse(r, 501, "the method of the request is not known here");
    }
    return refuse(r, 400, "the request is not HTTP");
}

/* Check the version at the end of the first line. Returns 0, or the status of the error. A later
 * minor version is changed to 1.1 (RFC 9110, section 2.5), so the parser reads 1.1, too. */
static int check_version(char *line, size_t n)
{
    char *version = line + n - 3;

    if (version[0] == '1' && version[2] >= '0' && version[2] <= '9') {
        version[2] = version[2] == '0' ? '0' : '1';
        return 0;
    }
    return version[0] >= '0' && version[0] <= '9' && version[2] >= '0' && version[2] <= '9' ? 505
                                                                                            : 400;
}

/* Check a line of the head without its CRLF. */
static enum http_event check_head_line(struct http_request *r, char *line, size_t n)
{
    int status;

    /* A header field, or the empty line that ends the head. */
    if (r->line != 0) {
        return n == 0 || http_is_field(line, n)
                   ? HTTP_GOT_PART
                   : refuse(r, 400, "a line of the head is not a name, a colon and a value");
    }
    if (!http_is_request_line(line, n)) {
        return refuse(r, 400, "the first line is not a method, a path and HTTP/1.1");
    }
    /* The line ends with "HTTP/" and a version of three characters. */
    status = check_version(line, n);
    if (status != 0) {
        return refuse(r, status, "this server speaks HTTP/1.1");
    }
    return strncmp(line, "CONNECT ", 8) == 0 ? refuse(r, 405, "this server is not a proxy")
                                             : HTTP_GOT_PART;
}

static enum http_event give(struct http_request *r, const char *bytes, size_t n)
{
    enum llhttp_errno error = llhttp_execute(&r->parser, bytes, n);

    return error == HPE_OK || error == HPE_PAUSED ? HTTP_GOT_PART : say_wrong(r, error);
}

/* Take the size of a chunk. llhttp gets the size without extensions (RFC 9112, section 7.1.1),
 * because llhttp refuses some. */
static enum http_event take_size(struct http_request *r, const char *line, size_t n)
{
    const char *extension = memchr(line, ';', n);
    size_t size = extension != NULL ? (size_t)(extension - line) : n;

    for (size_t i = size; i < n; i++) {
        if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f) {
            return refuse(r, 400, "an extension of a chunk has a control character");
        }
    }
    /* White space before an extension must be accepted, although it is not allowed (RFC 9112,
     * section 7.1.1). */
    while (extension != NULL && size != 0 && (line[size - 1] == ' ' || line[size - 1] == '\t')) {
        size--;
    }
    if (size == 0 || give(r, line, size) == HTTP_GOT_ERROR) {
        return refuse(r, 400, "the size of a chunk of the body is not a hexadecimal number");
    }
    if (give(r, "\r\n", 2) == HTTP_GOT_ERROR) {
        return HTTP_GOT_ERROR;
    }
    return r->left <= HTTP_CHUNK_BYTES
               ? HTTP_GOT_PART
               : refuse(r, 413, "a chunk of the body is longer than a gigabyte");
}

/* Take a line without its CRLF between pieces of a chunked body: the end of a chunk, the size of
 * the next one, or a line of the trailer, which is read and ignored (RFC 9112, section 7.1.2). */
static enum http_event take_body_line(struct http_request *r, const char *line, size_t n)
{
    /* This is the CRLF after the data of a chunk. */
    if (r->after_chunk) {
        r->after_chunk = false;
        return n == 0 ? give(r, "\r\n", 2)
                      : refuse(r, 400, "a chunk of the body is longer than its size says");
    }
    if (!r->last_chunk) {
        return take_size(r, line, n);
    }
    /* The empty line ends the trailer, and the body with it. */
    if (n == 0) {
        return give(r, "\r\n", 2);
    }
    return http_is_field(line, n)
               ? HTTP_GOT_PART
               : refuse(r, 400, "a line of the trailer is not a name, a colon and a value");
}

/* Take the complete line that begins at r->line. */
static enum http_event take_line(struct http_request *r)
{
    char *line = r->text + r->line;
    size_t n = r->n - r->line;
    bool head = r->at == HTTP_AT_HEAD;

    /* Parsers disagree on a bare CR or LF, so smuggled requests use it. */
    if (n < 2 || line[n - 2] != '\r' || memchr(line, '\r', n - 2) != NULL ||
        memchr(line, '\0', n) != NULL) {
        return refuse(r, 400, "a line has to end with CR and LF, and may have no others");
    }
    if (head && r->line == 0 && n == 2) { /* RFC 9112, section 2.2 */
        r->n = 0;
        return ++r->blanks > HTTP_BLANKS ? refuse(r, 400, "the request is not HTTP")
                                         : HTTP_GOT_PART;
    }
    /* Pass each line of the head to llhttp after it has passed the stricter rules of this file. */
    if (head) {
        if (check_head_line(r, line, n - 2) == HTTP_GOT_ERROR ||
            give(r, line, n) == HTTP_GOT_ERROR) {
            return HTTP_GOT_ERROR;
        }
        r->line = r->n;
        return r->headed ? end_head(r) : HTTP_GOT_PART;
    }
    if (take_body_line(r, line, n - 2) == HTTP_GOT_ERROR) {
        return HTTP_GOT_ERROR;
    }
    r->n = 0;
    if (r->complete) {
        r->at = HTTP_AT_END;
    } else if (r->left != 0) {
        r->at = HTTP_AT_BODY;
        r->rest_bytes = 0;
    }
    return HTTP_GOT_PART;
}

/* Gather the bytes up to the end of a line, or all bytes if no line ends. */
static enum http_event gather_line(struct http_request *r, const char *bytes, size_t n,
                                   size_t *used)
{
    const char *end = memchr(bytes, '\n', n);
    size_t more = end != NULL ? (size_t)(end + 1 - bytes) : n;
    bool head = r->at == HTTP_AT_HEAD;

    if (more > (head ? HTTP_HEAD_BYTES : HTTP_LINE_BYTES) - r->n) {
        if (head && r->line == 0) {
            return refuse(r, 414, "the first line of the request is longer than 16 KiB");
        }
        return head ? refuse(r, 431, "the head of the request is longer than 16 KiB")
                    : refuse(r, 400, "a line between chunks is longer than 1 KiB");
    }
    /* Limit these bytes, because a client could send extensions for ever and no byte of a body. */
    if (!head && (r->rest_bytes += more) > HTTP_REST_BYTES) {
        return refuse(r, 400, "the chunks of the body have too many extensions or trailers");
    }
    memcpy(r->text + r->n, bytes, more);
    r->n += more;
    *used += more;
    return end != NULL ? take_line(r) : HTTP_GOT_PART;
}

/* ---- the body -------------------------------------------------------------------------------- */

static enum http_event take_body(struct http_request *r, const char *bytes, size_t n, size_t *used,
                                 const char **piece, size_t *piece_bytes)
{
    size_t most = r->left < n ? (size_t)r->left : n;

    if (give(r, bytes, most) == HTTP_GOT_ERROR) {
        return HTTP_GOT_ERROR;
    }
    *piece = bytes;
    *piece_bytes = most;
    *used += most;
    r->left -= most;
    /* With a length the body ends here; with chunks a line comes next. */
    if (r->complete) {
        r->at = HTTP_AT_END;
    } else if (r->left == 0) {
        r->at = HTTP_AT_LINE;
        r->after_chunk = true;
    }
    return HTTP_GOT_BODY;
}

enum http_event http_request_take(struct http_request *r, const char *bytes, size_t n, size_t *used,
                                  const char **piece, size_t *piece_bytes)
{
    enum http_event event = HTTP_GOT_PART;

    *used = 0;
    *piece = NULL;
    *piece_bytes = 0;
    if (r->at == HTTP_AT_ERROR) {
        return HTTP_GOT_ERROR;
    }
    if (r->at != HTTP_AT_HEAD &&
        r->line != 0) { /* the head has been read: its memory is used for lines between chunks */
        r->n = r->line = 0;
    }
    while (event == HTTP_GOT_PART && r->at != HTTP_AT_END && *used < n) {
        event = r->at == HTTP_AT_BODY
                    ? take_body(r, bytes + *used, n - *used, used, piece, piece_bytes)
                    : gather_line(r, bytes + *used, n - *used, used);
    }
    return event == HTTP_GOT_PART && r->at == HTTP_AT_END ? HTTP_GOT_ALL : event;
}
