#include <string.h>

#include "runtime/http/http_connection.h"
#include "runtime/text/format_text.h"

static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        { 200, "OK" },
        { 201, "Created" },
        { 204, "No Content" },
        { 308, "Resume Incomplete" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 411, "Length Required" },
        { 413, "Content Too Large" },
        { 414, "URI Too Long" },
        { 415, "Unsupported Media Type" },
        { 422, "Unprocessable Content" },
        { 426, "Upgrade Required" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 503, "Service Unavailable" },
        { 505, "HTTP Version Not Supported" },
        { 507, "Insufficient Storage" },
    };

    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }
    return "Answer";
}

/* Return the field that tells where the body ends (RFC 9112, section 6): a length, chunks, or the
 * end of the connection; no field if there can be no body. */
static const char *framing_of(const struct http_connection *c, const struct http_answer *a,
                              char length[64])
{
    if (c->chunked) {
        return "transfer-encoding: chunked\r\n";
    }
    if (a->streams || a->status == 204) {
        return "";
    }
    (void)format_text(length, 64, "content-length: %llu\r\n", (unsigned long long)a->bytes);
    return length;
}

void http_answer_write(struct http_connection *c, const struct http_answer *a)
{
    const char *ends = c->ends_after ? "connection: close\r\n" : "";
    size_t room = sizeof c->head - c->head_bytes, n;
    char length[64];

    if (!c->ends_after && c->request.is_1_0) {
        ends = "connection: keep-alive\r\n";
    }
    n = format_text(c->head + c->head_bytes, room, "HTTP/1.1 %d %s\r\n%s%s%s%s%s%s\r\n", a->status,
                    reason_of(a->status), a->type != NULL ? "content-type: " : "",
                    a->type != NULL ? a->type : "", a->type != NULL ? "\r\n" : "",
                    framing_of(c, a, length), ends, a->fields != NULL ? a->fields : "");
    if (n >= room) { /* the site's fields are too long, so they are dropped */
        c->stage = HTTP_BROKEN;
        return;
    }
    c->head_bytes += n;
}
