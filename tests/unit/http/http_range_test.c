/* A client of an HTTP server that gives ranges of one file: addresses, questions, and answers in every split. An answer without the range that
 * was asked for ends with a named error, and no byte beyond the room is written. */
#include <stdlib.h>
#include <string.h>

#include "runtime/http/http_range.h"
#include "tests/unit/tap.h"

enum { FILE_BYTES = 1000, GUARD = 0x5a };

/* ---- addresses, questions ---- */

static void check_addresses(void)
{
    static const struct {
        const char *text, *host, *path;
        unsigned port;
    } good[] = {
        { "http://10.0.2.2/m.ingot", "10.0.2.2", "/m.ingot", 80 },
        { "http://nas.local:8080/models/a%20b.ingot?x=1", "nas.local", "/models/a%20b.ingot?x=1",
          8080 },
        { "http://[fe80::1]/m", "fe80::1", "/m", 80 },
        { "http://[::1]:65535/m:7", "::1", "/m:7", 65535 },
    };
    static const char *const bad[] = {
        "http://",           "http:///m",        "http://a",      "http://a/",       "http://a:/m",
        "http://a:0/m",      "http://a:65536/m", "http://a:1x/m", "http://user@a/m", "http://a b/m",
        "http://a/m n",      "http://a/m#n",     "http://[]/m",   "http://[::1/m",   "http://a_b/m",
        "http://a/\r\nx: y", "http://a/\x80",    "https://a/m",   "ftp://a/m",       "a/m",
    };
    struct http_address a;
    char long_text[400] = "http://a/", host[100] = "http://";

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const char *why = http_address_read(&a, good[i].text);

        OK(why == NULL && strcmp(a.host, good[i].host) == 0 && strcmp(a.path, good[i].path) == 0 &&
               a.port == good[i].port,
           "%s is an address", good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        OK(http_address_read(&a, bad[i]) != NULL, "row %zu is not an address", i);
    }
    memset(long_text + 9, 'm', 300);
    memset(host + 7, 'h', HTTP_HOST_BYTES);
    strcat(host, "/m");
    OK(http_address_read(&a, long_text) != NULL && http_address_read(&a, host) != NULL,
       "an address or a host that is too long is refused");
    OK(strstr(http_address_read(&a, "https://a/m"), "without TLS") != NULL,
       "https:// is refused by name");
}

static bool asks(const char *address, const struct http_version *v, const char *want)
{
    char text[HTTP_QUESTION_BYTES];
    struct http_address a;
    size_t n;

    if (http_address_read(&a, address) != NULL) {
        return false;
    }
    n = http_range_ask(text, &a, v, 512, 1024);
    return n == strlen(text) && n == strlen(want) && memcmp(text, want, n) == 0;
}

static void check_questions(void)
{
    static const struct http_version strong = { 9, "\"a-1\"", "Sun, 29 Nov 2026 07:00:00 GMT" },
                                     weak = { 9, "W/\"a-1\"", "Sun, 29 Nov 2026 07:00:00 GMT" },
                                     none = { .bytes = 9 };
    char most[HTTP_ADDRESS_BYTES] = "http://a/";
    struct http_version big;
    char text[HTTP_QUESTION_BYTES];
    struct http_address a;

    OK(asks(
           "http://10.0.2.2/m", &none,
           "GET /m HTTP/1.1\r\nHost: 10.0.2.2\r\nUser-Agent: Ingot\r\nAccept-Encoding: identity\r\nRange: bytes=512-1535\r\n\r\n"),
       "a question asks for a range");
    OK(asks(
           "http://[::1]:81/m", &strong,
           "GET /m HTTP/1.1\r\nHost: [::1]:81\r\nUser-Agent: Ingot\r\nAccept-Encoding: identity\r\nRange: bytes=512-1535\r\nIf-Range: \"a-1\"\r\n\r\n"),
       "the question has the file's tag");
    OK(asks(
           "http://a/m", &weak,
           "GET /m HTTP/1.1\r\nHost: a\r\nUser-Agent: Ingot\r\nAccept-Encoding: identity\r\nRange: bytes=512-1535\r\nIf-Range: Sun, 29 Nov 2026 07:00:00 GMT\r\n\r\n"),
       "a weak tag gives way to the date");
    memset(most + 9, 'm', sizeof most - 10);
    memset(&big, 0, sizeof big);
    memset(big.tag, '"', sizeof big.tag - 1);
    OK(http_address_read(&a, most) == NULL &&
           http_range_ask(text, &a, &big, UINT64_MAX / 2, 1) < HTTP_QUESTION_BYTES - 1 &&
           strcmp(text + strlen(text) - 4, "\r\n\r\n") == 0,
       "the longest question fits");
}

/* ---- answers ---- */

struct seen {
    enum http_range_state state;
    const char *why;
    bool keeps;
    uint64_t got;
    struct http_version version;
    bool right; /* the bytes are those of the file, and none beyond them was written */
};

static char file[FILE_BYTES];

/* Take an answer to a question for [first + got, first + n), in pieces of `step` bytes (0: whole). */
static struct seen take(const char *answer, size_t bytes, const struct http_version *known,
                        uint64_t first, uint64_t n, uint64_t got, size_t step, bool ends)
{
    static struct http_range r;
    uint8_t to[FILE_BYTES + 8];
    struct seen s = { 0 };

    memset(to, GUARD, sizeof to);
    memcpy(to, file + first, (size_t)got);
    http_range_begin(&r, known, first, n, got, to);
    for (size_t at = 0; at < bytes;) {
        size_t part = step != 0 && step < bytes - at ? step : bytes - at;
        char *copy = malloc(part); /* so that a read beyond the end is seen */

        memcpy(copy, answer + at, part);
        http_range_take(&r, copy, part);
        free(copy);
        at += part;
    }
    if (ends) {
        http_range_end(&r);
    }
    s.state = r.state;
    s.why = r.error_message;
    s.keeps = r.keeps;
    s.got = r.got;
    s.version = r.seen;
    s.right = memcmp(to, file + first, (size_t)r.got) == 0;
    for (size_t i = (size_t)r.got; i < sizeof to; i++) {
        s.right &= to[i] == GUARD;
    }
    return s;
}

/* An answer: its head, and n bytes of the file from `first` on. */
static size_t make(char *to, const char *head, uint64_t first, size_t n)
{
    size_t bytes = strlen(head);

    memcpy(to, head, bytes);
    memcpy(to + bytes, file + first, n);
    return bytes + n;
}

static const struct http_version any = { 0 }, known = { FILE_BYTES, "\"t\"", "yesterday" };

#define HEAD(range, length, more) \
    "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " range "\r\nContent-Length: " length \
    "\r\nETag: \"t\"\r\nLast-Modified: yesterday\r\n" more "\r\n"

static void check_good(void)
{
    static const struct {
        const char *name, *head;
        bool keeps, ends;
        size_t extra;
    } rows[] = {
        { "an answer", HEAD("100-199/1000", "100", ""), true, false, 0 },
        { "one that ends the connection", HEAD("100-199/1000", "100", "Connection: close\r\n"),
          false, true, 0 },
        { "names of fields in other letters",
          "HTTP/1.1 206 x\r\ncontent-RANGE: bytes 100-199/1000\r\nCONTENT-length: 100\r\netag: \"t\"\r\nlast-MODIFIED:yesterday \r\n\r\n",
          true, false, 0 },
        { "one without a length, to the end",
          "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nETag: \"t\"\r\nLast-Modified: yesterday\r\n\r\n",
          false, true, 0 },
        { "an answer before the answer",
          "HTTP/1.1 100 Continue\r\nx: y\r\n\r\n" HEAD("100-199/1000", "100", ""), true, false, 0 },
        { "a field longer than its room",
          HEAD(
              "100-199/1000", "100",
              "X-Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
              "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n"),
          true, false, 0 },
        { "bytes after the answer, which nobody asked for", HEAD("100-199/1000", "100", ""), false,
          false, 7 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char answer[2000];
        size_t n = make(answer, rows[i].head, 100, 100 + rows[i].extra);
        bool all = true;

        for (size_t step = 0; step < 40; step++) {
            struct seen s = take(answer, n, &known, 100, 100, 0, step, rows[i].ends);

            all &= s.state == HTTP_RANGE_DONE && s.got == 100 && s.right &&
                   s.version.bytes == FILE_BYTES && strcmp(s.version.tag, "\"t\"") == 0 &&
                   strcmp(s.version.date, "yesterday") == 0;
            all &= s.keeps == rows[i].keeps || (rows[i].extra != 0 && step != 0);
        }
        OK(all, "%s is read in pieces of every size", rows[i].name);
    }
}

/* RFC 9110, section 15.3.7: a server should send the tag again, and not the date. */
static void check_dateless(void)
{
    char answer[600];
    size_t n = make(
        answer,
        "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nContent-Length: 100\r\nETag: \"t\"\r\n\r\n",
        100, 100);
    struct seen s = take(answer, n, &known, 100, 100, 0, 0, false);

    OK(s.state == HTTP_RANGE_DONE && s.right && s.keeps,
       "an answer to If-Range may leave out the date: %s", s.why != NULL ? s.why : "");
}

static void check_chunks(void)
{
    char answer[600];
    size_t n = make(
        answer,
        "HTTP/1.1 206 x\r\nContent-Range: bytes 0-99/1000\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n",
        0, 64);

    n += make(answer + n, "\r\n24;x=y\r\n", 64, 36);
    n += make(answer + n, "\r\n0\r\n\r\n", 0, 0);
    OK(take(answer, n, &any, 0, 100, 0, 0, false).state == HTTP_RANGE_DONE &&
           take(answer, n, &any, 0, 100, 0, 1, false).right,
       "an answer in chunks is read");
    n -= 5;
    OK(take(answer, n, &any, 0, 100, 0, 3, true).state == HTTP_RANGE_BROKEN,
       "an answer in chunks is not whole without the last one");
}

static void check_cut(void)
{
    char answer[600];
    size_t head = strlen(HEAD("100-199/1000", "100", "")),
           n = make(answer, HEAD("100-199/1000", "100", ""), 100, 100);
    bool all = true;
    struct seen s;

    for (size_t at = 0; at < n; at++) {
        s = take(answer, at, &known, 100, 100, 0, 0, true);
        all &= s.state == HTTP_RANGE_BROKEN && s.right && s.got == (at > head ? at - head : 0);
    }
    OK(all && strstr(s.why, "closed the connection") != NULL,
       "an answer that is cut anywhere leaves what came");
    n = make(answer, HEAD("130-199/1000", "70", ""), 130, 70);
    s = take(answer, n, &known, 100, 100, 30, 0, false);
    OK(s.state == HTTP_RANGE_DONE && s.got == 100 && s.right,
       "the next question goes on after what came");
}

static void check_refused(void)
{
    static const struct {
        const char *head;
        bool opened, again;
        const char *why;
    } rows[] = {
        { "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", false, false,
          "support Range requests" },
        { "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", true, false, "has changed" },
        { "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false, false, "no such file" },
        { "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", true, false, "no such file" },
        { "HTTP/1.1 401 x\r\nContent-Length: 0\r\n\r\n", false, false, "does not let us" },
        { "HTTP/1.1 403 x\r\nContent-Length: 0\r\n\r\n", false, false, "does not let us" },
        { "HTTP/1.1 301 x\r\nLocation: http://b/m\r\nContent-Length: 0\r\n\r\n", false, false,
          "another address" },
        { "HTTP/1.1 304 x\r\n\r\n", true, false, "another address" },
        { "HTTP/1.1 416 x\r\nContent-Range: bytes */10\r\nContent-Length: 0\r\n\r\n", true, false,
          "has changed" },
        { "HTTP/1.1 416 x\r\nContent-Length: 0\r\n\r\n", true, false, "has changed" },
        { "HTTP/1.1 416 x\r\nContent-Length: 0\r\n\r\n", false, false, "empty" },
        { "HTTP/1.1 418 x\r\nContent-Length: 0\r\n\r\n", false, false, "does not fit a file" },
        { "HTTP/1.1 204 x\r\n\r\n", false, false, "does not fit a file" },
        { "HTTP/1.1 101 x\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n", false, false,
          "does not fit a file" },
        { "HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n", true, true, "cannot answer now" },
        { "HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n", false, true, "cannot answer now" },
        { "HTTP/1.1 429 x\r\nContent-Length: 0\r\n\r\n", false, true, "cannot answer now" },
        { "HTTP/1.1 206 x\r\nContent-Length: 100\r\n\r\n", false, false, "no Content-Range" },
        { "HTTP/1.1 206 x\r\nContent-Type: multipart/byteranges\r\nContent-Length: 100\r\n\r\n",
          false, false, "no Content-Range" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\n\r\n",
          false, false, "compresses" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nContent-Length: 99\r\n\r\n",
          false, false, "does not fit its Content-Range" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nContent-Length: 101\r\n\r\n",
          false, false, "does not fit its Content-Range" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 99-199/1000\r\nContent-Length: 101\r\n\r\n",
          false, false, "not the one that was asked for" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-198/1000\r\nContent-Length: 99\r\n\r\n",
          false, false, "not the one that was asked for" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-200/1000\r\nContent-Length: 101\r\n\r\n",
          false, false, "not the one that was asked for" },
        { HEAD("100-199/999", "100", ""), true, false, "has changed" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nETag: \"u\"\r\nLast-Modified: yesterday\r\nContent-Length: 100\r\n\r\n",
          true, false, "has changed" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nETag: \"t\"\r\nLast-Modified: today\r\nContent-Length: 100\r\n\r\n",
          true, false, "has changed" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nContent-Length: 100\r\n\r\n",
          true, false, "has changed" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/*\r\nContent-Length: 100\r\n\r\n", false,
          false, "Content-Range is not" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 199-100/1000\r\nContent-Length: 100\r\n\r\n",
          false, false, "Content-Range is not" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-1000/1000\r\nContent-Length: 100\r\n\r\n",
          false, false, "Content-Range is not" },
        { "HTTP/1.1 206 x\r\nContent-Range: lines 100-199/1000\r\nContent-Length: 100\r\n\r\n",
          false, false, "Content-Range is not" },
        { "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/99999999999999999999\r\nContent-Length: 100\r\n\r\n",
          false, false, "Content-Range is not" },
        { HEAD("100-199/1000", "100", "Content-Range: bytes 100-199/1000\r\n"), false, false,
          "Content-Range is not" },
        { "HTTP/1.1 206 x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", false, true,
          "is not HTTP" },
        { "SSH-2.0-OpenSSH_9.2\r\n", false, true, "is not HTTP" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum http_range_state want = rows[i].again ? HTTP_RANGE_BROKEN : HTTP_RANGE_WRONG;
        const struct http_version *of = rows[i].opened ? &known : &any;
        bool all = true;

        for (size_t step = 0; step < 3; step++) {
            char answer[2000];
            size_t n = make(answer, rows[i].head, 0, 0);
            struct seen s = take(answer, n, of, 100, 100, 0, step, false);

            all &= s.state == want && strstr(s.why, rows[i].why) != NULL && !s.keeps && s.right;
        }
        OK(all, "row %zu is refused: %s", i, rows[i].why);
    }
}

static void check_bounds(void)
{
    char *answer = malloc(20000);
    size_t n;
    struct seen s;

    n = (size_t)sprintf(answer, "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nX: ");
    memset(answer + n, 'x', 19000);
    s = take(answer, n + 19000, &any, 100, 100, 0, 0, false);
    OK(s.state == HTTP_RANGE_WRONG && strstr(s.why, "longer than 8 KiB") != NULL &&
           take(answer, n + 19000, &any, 100, 100, 0, 7, false).state == HTTP_RANGE_WRONG,
       "a head without an end is refused");
    for (n = 0; n < 19000;) {
        n += (size_t)sprintf(answer + n, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    s = take(answer, n, &any, 100, 100, 0, 100, false);
    OK(s.state == HTTP_RANGE_WRONG, "interim answers without end are refused");
    n = make(
        answer,
        "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n",
        100, 101);
    n += make(answer + n, "\r\n0\r\n\r\n", 0, 0);
    s = take(answer, n, &any, 100, 100, 0, 0, false);
    OK(s.state == HTTP_RANGE_WRONG && strstr(s.why, "more bytes") != NULL && s.right,
       "more bytes than were asked for are refused");
    n = make(
        answer,
        "HTTP/1.1 206 x\r\nContent-Range: bytes 100-199/1000\r\nTransfer-Encoding: chunked\r\n\r\n63\r\n",
        100, 99);
    n += make(answer + n, "\r\n0\r\n\r\n", 0, 0);
    s = take(answer, n, &any, 100, 100, 0, 0, false);
    OK(s.state == HTTP_RANGE_WRONG && strstr(s.why, "fewer bytes") != NULL && s.right,
       "fewer bytes than were asked for are refused");
    free(answer);
}

int main(void)
{
    for (size_t i = 0; i < FILE_BYTES; i++) {
        file[i] = (char)(i * 7 + i / 256);
    }
    check_addresses();
    check_questions();
    check_good();
    check_dateless();
    check_chunks();
    check_cut();
    check_refused();
    check_bounds();
    return tap_done();
}
