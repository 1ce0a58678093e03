/* One connection: answers in the order of their requests, with a length, in chunks or to the end;
 * answers that come before a body; WebSockets, whose key is RFC 6455's. The site answers when the
 * test says so. */
#include <stdlib.h>
#include <string.h>

#include "runtime/http/http_accept.h"
#include "runtime/http/http_connection.h"
#include "tests/unit/tap.h"

enum { OUT_BYTES = 1 << 16 };

static struct http_connection c;
static char out[OUT_BYTES];
static size_t n_out;

static struct answers {
    struct http_answer next; /* status 0: later */
    bool at_head;            /* before the body */
    size_t left, body_bytes, n_messages;
    bool fails, has_memory, waits; /* waits: the body has no more bytes for now */
    unsigned n_over;
    char message[64];
    const char *says;
} site_;

static void answer(void)
{
    site_.left = site_.next.streams ? 3000 : (size_t)site_.next.bytes;
    http_connection_answer(&c, &site_.next);
}

static void on_head(void *user, const struct http_request *r)
{
    const char *error_message = NULL;
    int status;

    (void)user;
    if (strcmp(r->path, "/ws") == 0) {
        status = http_connection_upgrade(&c, &error_message);
        if (status != 0) {
            site_.next = (struct http_answer){ .status = status };
            answer();
        }
    } else if (site_.at_head) {
        answer();
    }
}

static bool on_body(void *user, const char *bytes, size_t n)
{
    (void)user;
    (void)bytes;
    site_.body_bytes += n;
    return site_.has_memory;
}

static void on_whole(void *user)
{
    (void)user;
    if (site_.next.status != 0) {
        answer();
    }
}

static void on_wrong(void *user, int status, const char *error_message)
{
    (void)user;
    (void)error_message;
    site_.next = (struct http_answer){ .status = status, .closes = true };
    answer();
}

static size_t on_more(void *user, char *to, size_t room, bool *last, bool *failed)
{
    size_t n = site_.waits ? 0 : site_.left < room ? site_.left : room;

    (void)user;
    memset(to, 'x', n);
    site_.left -= n;
    *last = site_.left == 0;
    *failed = site_.fails;
    return n;
}

static void on_over(void *user)
{
    (void)user;
    site_.n_over++;
}

static void on_opened(void *user)
{
    (void)user;
}

static uint16_t on_message(void *user, const char *bytes, size_t n, bool last, bool text)
{
    size_t at = strlen(site_.message);

    (void)user;
    (void)text;
    snprintf(site_.message + at, sizeof site_.message - at, "%.*s%s", (int)n, bytes,
             last ? "|" : "");
    site_.n_messages += last;
    c.held = last && strcmp(site_.message, "hold|") == 0;
    return strncmp(site_.message, "break", 5) == 0 ? HTTP_CLOSE_AT_ONCE : 0;
}

static const char *on_say(void *user, size_t *n)
{
    (void)user;
    *n = site_.says != NULL ? strlen(site_.says) : 0;
    return site_.says;
}

static void on_said(void *user)
{
    (void)user;
    site_.says = NULL;
}

static const struct http_site site = { on_head, on_body,   on_whole,   on_wrong, on_more,
                                       on_over, on_opened, on_message, on_say,   on_said };

static void begin(struct http_answer next, bool at_head)
{
    http_connection_close(&c);
    site_ = (struct answers){ .next = next, .at_head = at_head, .has_memory = true };
    n_out = 0;
    http_connection_open(&c, &site, NULL);
}

/* Collects everything that is sent now, through the smallest room. */
static const char *drain(void)
{
    enum http_stage stage;
    size_t n;

    do {
        stage = c.stage;
        n = http_connection_fill(&c, out + n_out, HTTP_FILL_BYTES);
        n_out += n;
    } while (n != 0 || c.stage != stage);
    out[n_out] = '\0';
    return out;
}

static size_t take(const char *text)
{
    return http_connection_take(&c, text, strlen(text));
}

static bool has(const char *text)
{
    return strstr(out, text) != NULL;
}

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define OK200 \
    { \
        .status = 200, .type = "text/plain", .bytes = 1000 \
    }

static void check_answers(void)
{
    begin((struct http_answer)OK200, false);
    OK(take(GET GET) == strlen(GET), "the second of two requests waits for the first's answer");
    drain();
    OK(has("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1000\r\n\r\nxxx") &&
           site_.n_over == 1 && c.stage == HTTP_READS && http_connection_wants(&c) &&
           take(GET) == strlen(GET),
       "an answer has a length, and the next request follows");
    begin((struct http_answer)OK200, false);
    (void)take("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    drain();
    OK(has("content-length: 1000\r\n") && strcmp(out + n_out - 4, "\r\n\r\n") == 0 &&
           site_.left == 1000 && c.stage == HTTP_READS,
       "HEAD has the length and no body");
    begin((struct http_answer){ .status = 200, .streams = true }, false);
    (void)take(GET);
    drain();
    OK(has("transfer-encoding: chunked\r\n") && has("\r\n\r\n01f3\r\nxxx") &&
           strcmp(out + n_out - 7, "\r\n0\r\n\r\n") == 0 && c.stage == HTTP_READS,
       "a stream is sent in chunks");
    begin((struct http_answer){ .status = 200, .streams = true }, false);
    site_.waits = true;
    (void)take(GET);
    drain();
    OK(strcmp(out + n_out - 4, "\r\n\r\n") == 0 && !has("0\r\n\r\n") && c.stage == HTTP_ANSWERS,
       "a stream that has nothing for now does not end");
    begin((struct http_answer){ .status = 200, .streams = true }, false);
    (void)take("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    drain();
    OK(!has("chunked") && has("connection: close\r\n") && out[n_out - 1] == 'x' &&
           c.stage == HTTP_CLOSES,
       "a stream to HTTP/1.0 goes on to the end of the connection");
    begin((struct http_answer)OK200, false);
    (void)take("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" GET);
    drain();
    OK(has("connection: close\r\n") && c.stage == HTTP_CLOSES && site_.n_over == 1,
       "Connection: close closes the connection");
    begin((struct http_answer)OK200, false);
    site_.fails = true;
    (void)take(GET);
    drain();
    OK(c.stage == HTTP_BROKEN, "a body that cannot be read breaks the connection");
    begin((struct http_answer){ .status = 0 }, false);
    (void)take(GET);
    OK(c.stage == HTTP_WORKS && n_out == 0 && strcmp(drain(), "") == 0,
       "a request whose answer comes later waits");
    http_connection_probe(&c);
    drain();
    site_.next = (struct http_answer)OK200;
    answer();
    drain();
    OK(strncmp(out, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n", 42) == 0,
       "the answer comes after an interim one");
}

#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"

static void check_bodies(void)
{
    begin((struct http_answer)OK200, false);
    (void)take(POST "Expect: 100-continue\r\n\r\n");
    OK(strcmp(drain(), "HTTP/1.1 100 Continue\r\n\r\n") == 0 && site_.n_over == 0,
       "a body with Expect is asked for");
    (void)take("hello");
    drain();
    OK(has("200 OK") && site_.body_bytes == 5, "the awaited body comes");
    begin((struct http_answer){ .status = 404 }, true);
    (void)take(POST "Expect: 100-continue\r\n\r\n");
    drain();
    OK(strncmp(out, "HTTP/1.1 404", 12) == 0 && c.stage == HTTP_CLOSES,
       "a body that is not asked for ends the connection");
    begin((struct http_answer)OK200, false);
    site_.has_memory = false;
    (void)take(POST "\r\nhello");
    OK(c.stage == HTTP_BROKEN, "a body without memory for it breaks the connection");
    begin((struct http_answer)OK200, false);
    (void)take("POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    OK(strcmp(drain(), "") == 0, "HTTP/1.0 has no interim answers");
    begin((struct http_answer)OK200, false);
    (void)take(GET "x\r\n\r\n");
    drain();
    (void)take("x\r\n\r\n");
    drain();
    OK(has("200 OK") && has("400 Bad Request") && c.stage == HTTP_CLOSES,
       "an error after an answer closes the connection");
}

#define CHUNKED "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

/* Answers that are known from the request's head. */
static void check_early(void)
{
    static char large[HTTP_DROPPED_BYTES + 4096];

    begin((struct http_answer){ .status = 404, .bytes = 9 }, true);
    (void)take(POST "\r\nhe");
    drain();
    OK(has("404 Not Found") && has("xxxxxxxxx") && !has("connection: close") && site_.n_over == 1 &&
           http_connection_wants(&c),
       "an early answer goes out before its body is there");
    (void)take("llo" GET);
    drain();
    OK(site_.n_over == 2 && c.stage == HTTP_READS && site_.body_bytes == 0,
       "the connection stays after an early answer");
    begin((struct http_answer){ .status = 404 }, true);
    (void)take(POST "\r\nhello" GET);
    drain();
    OK(site_.n_over == 1 && c.stage == HTTP_READS && take(GET) == strlen(GET),
       "the connection reads the next request when body and answer end at once");
    begin((struct http_answer){ .status = 404 }, true);
    (void)take("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n");
    drain();
    OK(has("404 Not Found") && has("connection: close\r\n") && c.stage == HTTP_CLOSES,
       "a body that is too long to be dropped ends the connection, and the answer says so");
    begin((struct http_answer){ .status = 404 }, true);
    (void)take(CHUNKED "300000\r\n");
    drain();
    OK(has("404 Not Found") && http_connection_wants(&c), "chunks may be short");
    (void)http_connection_take(&c, large, sizeof large);
    OK(c.stage == HTTP_CLOSES, "long chunks end the connection");
    begin((struct http_answer){ .status = 404 }, true);
    for (unsigned i = 0; i < 3; i++) {
        (void)take("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1500000\r\n\r\n");
        drain();
        (void)http_connection_take(&c, large, 1500000);
    }
    OK(site_.n_over == 3 && c.stage == HTTP_READS, "each body is measured by itself");
    begin((struct http_answer){ .status = 404 }, true);
    (void)take(CHUNKED);
    drain();
    (void)take("no\r\n" GET);
    drain();
    OK(has("404 Not Found") && !has("400") && site_.n_over == 1 && c.stage == HTTP_CLOSES,
       "a wrong body after an early answer ends the connection, without another answer");
    begin((struct http_answer){ .status = 413, .closes = true }, true);
    (void)take(POST "\r\n");
    OK(strncmp(drain(), "HTTP/1.1 413", 12) == 0 && c.stage == HTTP_CLOSES,
       "an answer that ends the connection does not wait for the body either");
    begin((struct http_answer){ .status = 404 }, true);
    (void)take(POST "Expect: 100-continue\r\n\r\nhello" GET);
    drain();
    OK(has("connection: close\r\n") && site_.n_over == 1 && c.stage == HTTP_CLOSES,
       "the body of a caller that was to wait for 100 Continue is not taken for a request");
}

#define SHAKE \
    "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\nConnection: x, upgrade\r\nSec-WebSocket-Version: 13\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define MASK "\1\1\1\1" /* letters' neighbours: 'h' ^ 1 = 'i' */

static void check_sockets(void)
{
    char accept[HTTP_ACCEPT_BYTES];

    http_accept_key("dGhlIHNhbXBsZSBub25jZQ==", accept);
    OK(strcmp(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") == 0,
       "the key of RFC 6455's section 1.3 has its answer: %s", accept);
    OK(http_is_key("dGhlIHNhbXBsZSBub25jZQ==", 24) && !http_is_key("dGhlIHNhbXBsZSBub25jZQ=", 23) &&
           !http_is_key("dGhlIHNhbXBsZSBub25jZQ-=", 24) &&
           !http_is_key("dGhlIHNhbXBsZSBub25j*Q==", 24),
       "a key has 16 bytes in base64");
    begin((struct http_answer){ .status = 0 }, false);
    site_.says = "first";
    (void)take(SHAKE KEY "\r\n\x81\x82" MASK "hj");
    drain();
    OK(has("101 Switching Protocols") && has("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") &&
           has("\r\n\r\n\x81\x05"
               "first") &&
           strcmp(site_.message, "ik|") == 0,
       "a handshake takes the first frame behind it: %s", site_.message);
    n_out = 0;
    (void)http_connection_take(&c, "\x89\x81\0\0\0\0p\x88\x82\0\0\0\0\x03\xe8\x81\x80\0\0\0\0", 21);
    drain();
    OK(n_out == 7 && memcmp(out, "\x8a\x01p\x88\x02\x03\xe8", 7) == 0 && c.stage == HTTP_CLOSES &&
           site_.n_messages == 1,
       "a ping and the end are answered, and what follows is not");
    begin((struct http_answer){ .status = 0 }, false);
    (void)take(SHAKE KEY "\r\n");
    drain();
    (void)http_connection_take(&c, "\x81\x84\0\0\0\0hold\x81\x81\0\0\0\0z", 17);
    OK(strcmp(site_.message, "hold|") == 0 && !http_connection_wants(&c),
       "a site may hold messages back");
    c.held = false;
    (void)http_connection_take(&c, "", 0);
    OK(strcmp(site_.message, "hold|z|") == 0, "the site gets the messages that it held back: %s",
       site_.message);
    begin((struct http_answer){ .status = 0 }, false);
    (void)take(SHAKE KEY "\r\n");
    (void)http_connection_take(&c, "\x81\x85\0\0\0\0break", 11);
    OK(c.stage == HTTP_BROKEN, "a connection that breaks off within a message is closed");
    begin((struct http_answer){ .status = 0 }, false);
    (void)take(
        "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nSec-WebSocket-Version: 13\r\n" KEY
        "\r\n");
    drain();
    OK(has("426 Upgrade Required") && c.stage == HTTP_READS,
       "a request without Upgrade is not a handshake");
    begin((struct http_answer){ .status = 0 }, false);
    (void)take(
        "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" KEY
        "\r\n");
    drain();
    OK(has("426 Upgrade Required"),
       "a request whose Connection does not name upgrade is not a handshake");
    begin((struct http_answer){ .status = 0 }, false);
    (void)take("GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
               "Sec-WebSocket-Version: 8\r\n" KEY "\r\n");
    drain();
    OK(has("426 Upgrade Required"), "an old version is refused");
    begin((struct http_answer){ .status = 0 }, false);
    (void)take(SHAKE KEY KEY "\r\n");
    drain();
    OK(has("400 Bad Request"), "two keys are refused");
    begin((struct http_answer){ .status = 0 }, false);
    (void)take(SHAKE "Sec-WebSocket-Version: 8\r\n" KEY "\r\n");
    drain();
    OK(has("400 Bad Request"), "two versions are refused");
    begin((struct http_answer){ .status = 0 }, false);
    (void)take(SHAKE "Content-Length: 3\r\n" KEY "\r\nabc");
    drain();
    OK(has("400 Bad Request"), "a handshake has no body");
    http_connection_close(&c);
}

int main(void)
{
    check_answers();
    check_bodies();
    check_early();
    check_sockets();
    return tap_done();
}
