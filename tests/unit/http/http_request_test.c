/* Requests from bytes in every split: the result does not depend on it. Bytes that are not a
 * request are refused, above all requests that a proxy could read differently (RFC 9112, sections 6
 * and 11.2). */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/http/http_fields.h"
#include "runtime/http/http_request.h"
#include "tests/unit/tap.h"

enum { LOG_BYTES = 4096 };

static struct http_request request;

/* Parses bytes and logs a line for each request: "POST /path [body] keeps|closes", or the status of
 * the error. */
static void run(const char *bytes, size_t n, const size_t *cuts, size_t n_cuts, char log[LOG_BYTES])
{
    static const char *const methods[] = { "GET", "HEAD", "POST", "OPTIONS", "OTHER" };
    size_t at = 0, cut = 0;

    log[0] = '\0';
    http_request_reset(&request);
    while (at < n || request.at == HTTP_AT_END) {
        size_t end = cut < n_cuts && cuts[cut] < n ? cuts[cut] : n, used, piece_bytes;
        size_t said = strlen(log);
        /* Copies it, so that a read beyond the end is seen. */
        char *part = malloc(end - at + 1);
        const char *piece;

        memcpy(part, bytes + at, end - at);
        switch (http_request_take(&request, part, end - at, &used, &piece, &piece_bytes)) {
        case HTTP_GOT_HEAD:
            snprintf(log + said, LOG_BYTES - said, "%s %s [", methods[request.method],
                     request.path);
            break;
        case HTTP_GOT_BODY:
            snprintf(log + said, LOG_BYTES - said, "%.*s", (int)piece_bytes, piece);
            break;
        case HTTP_GOT_ALL:
            snprintf(log + said, LOG_BYTES - said, "] %s\n", request.keeps ? "keeps" : "closes");
            http_request_reset(&request);
            break;
        case HTTP_GOT_ERROR:
            snprintf(log + said, LOG_BYTES - said, "%d", request.status);
            free(part);
            return;
        case HTTP_GOT_PART:
        default: break;
        }
        free(part);
        at += used;
        if (at == end && request.at != HTTP_AT_END) {
            cut++;
        }
    }
}

/* Parses it whole, in single bytes, and cut at every two places. */
static bool same_in_every_split(const char *bytes, size_t n, const char *want)
{
    char log[LOG_BYTES];
    size_t *all = malloc(n * sizeof *all);
    bool good = true;

    for (size_t i = 0; i < n; i++) {
        all[i] = i + 1;
    }
    run(bytes, n, all, n, log);
    good = strcmp(log, want) == 0;
    for (size_t i = 0; i <= n && good; i++) {
        for (size_t k = i; k <= n && good; k += n > 200 ? 7 : 1) {
            size_t cuts[2] = { i, k };

            run(bytes, n, cuts, 2, log);
            good = strcmp(log, want) == 0;
        }
    }
    if (!good) {
        printf("# got:\n# %s\n# wanted:\n# %s\n", log, want);
    }
    free(all);
    return good;
}

#define HOST "Host: a\r\n"

static void check_good(void)
{
    static const struct {
        const char *name, *bytes, *want;
    } cases[] = {
        { "two requests in a row",
          "POST /a HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello"
          "POST /b HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\nGET /c?d=%41 HTTP/1.1\r\n" HOST
          "\r\n",
          "POST /a [hello] keeps\nPOST /b [] keeps\nGET /c [] keeps\n" },
        { "chunks with extensions and trailers, and a request behind them",
          "POST /a HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n"
          "3\r\nhel\r\n2;a=b; c=\"d e\"\r\nlo\r\n00c\r\n, two\r\nlines\r\n0;x\r\nOne: 1\r\nContent-Length: 2\r\n\r\n"
          "GET / HTTP/1.1\r\n" HOST "\r\n",
          "POST /a [hello, two\r\nlines] keeps\nGET / [] keeps\n" },
        { "an empty line before a request, the version before, the end of the connection",
          "\r\n\r\nGET /%C3%A9/x HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
          "GET / HTTP/1.1\r\n" HOST "Connection: foo, Close\r\n\r\n",
          "GET /\xc3\xa9/x [] closes\nGET / [] keeps\nGET / [] closes\n" },
        { "a body that is not compressed may say so",
          "POST /a HTTP/1.1\r\n" HOST
          "Content-Encoding: Identity\r\nContent-Length: 5\r\n\r\nhello",
          "POST /a [hello] keeps\n" },
        { "an upgrade that nobody wants is a request as others",
          "POST /a HTTP/1.1\r\n" HOST
          "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"
          "Content-Length: 2\r\n\r\nhiPUT /b HTTP/1.1\r\n" HOST
          "Upgrade: h2c\r\nConnection: upgrade\r\n\r\n",
          "POST /a [hi] keeps\nOTHER /b [] keeps\n" },
        { "hosts: none, a port without a number, numbers in brackets, escapes",
          "GET /a HTTP/1.1\r\nHost:\r\n\r\nGET /b HTTP/1.1\r\nHost: a_b:\r\n\r\n"
          "GET /c HTTP/1.1\r\nHost: [2001:db8::192.0.2.1]:8080\r\n\r\n"
          "GET /d HTTP/1.1\r\nHost: a%20b.example\r\n\r\n",
          "GET /a [] keeps\nGET /b [] keeps\nGET /c [] keeps\nGET /d [] keeps\n" },
        { "a later minor version is read as 1.1",
          "GET /a HTTP/1.2\r\n" HOST "\r\nGET /b HTTP/1.9\r\n" HOST "Connection: close\r\n\r\n",
          "GET /a [] keeps\nGET /b [] closes\n" },
        { "targets: a whole address without a path, of any case",
          "OPTIONS HTTP://a.example HTTP/1.1\r\n" HOST "\r\nGET http://a?b HTTP/1.1\r\n" HOST
          "\r\nGET https://[::1]:8/p HTTP/1.1\r\n" HOST "\r\n",
          "OPTIONS / [] keeps\nGET / [] keeps\nGET /p [] keeps\n" },
        { "targets: a whole address, a star",
          "GET http://x.example:80/p?q HTTP/1.1\r\n" HOST "\r\nOPTIONS * HTTP/1.1\r\n" HOST
          "\r\nGET https://x.example HTTP/1.1\r\n" HOST "\r\n",
          "GET /p [] keeps\nOPTIONS * [] keeps\nGET / [] keeps\n" },
        { "white space around values",
          "POST /a HTTP/1.1\r\nHost:\t a \r\nContent-Length:   2  \r\nX:\r\n\r\nhi",
          "POST /a [hi] keeps\n" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        OK(same_in_every_split(cases[i].bytes, strlen(cases[i].bytes), cases[i].want),
           "the request is read in every split: %s", cases[i].name);
    }
}

#define POST "POST /a HTTP/1.1\r\n" HOST

static void check_bad(void)
{
    static const struct {
        const char *status, *bytes;
    } cases[] = {
        { "400", POST "Content-Length: +5\r\n\r\nhello" },
        { "400", POST "Content-Length: 5abc\r\n\r\nhello" },
        { "400", POST "Content-Length: -1\r\n\r\nhello" },
        { "400", POST "Content-Length: 0x5\r\n\r\nhello" },
        { "400", POST "Content-Length: 5,5\r\n\r\nhello" },
        { "400", POST "Content-Length: 5 5\r\n\r\nhello" },
        { "400", POST "Content-Length:\r\n\r\nhello" },
        { "400", POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello" },
        { "400", POST "Content-Length: 5\r\ncontent-length: 6\r\n\r\nhello" },
        { "400", POST "Content-Length: 18446744073709551621\r\n\r\nhello" },
        { "400", POST "Content-Length: 99999999999999999999999999\r\n\r\nhello" },
        { "400", POST "Content-Length : 5\r\n\r\nhello" },
        { "400", POST " Content-Length: 5\r\n\r\nhello" },
        { "400", POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
        { "400", POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" },
        { "400", POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" },
        { "415", POST "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n12345" },
        { "415", POST "Transfer-Encoding: chunked\r\nContent-Encoding: zstd\r\n\r\n0\r\n\r\n" },
        { "400", POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" },
        { "400", POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" },
        { "400", POST "Transfer-Encoding: identity\r\n\r\n" },
        { "400", POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" },
        { "400", POST "Transfer-Encoding:\r\n\r\n0\r\n\r\n" },
        { "400", POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
        { "400", POST "Transfer-Encoding:\x0b"
                      "chunked\r\n\r\n0\r\n\r\n" },
        { "400", "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
        { "400", POST "X: a\r\n Content-Length: 5\r\n\r\nhello" },
        { "400", POST "X: a\rContent-Length: 5\r\n\r\nhello" },
        { "400", POST "X: a\nContent-Length: 5\r\n\r\nhello" },
        { "400", POST "X y: a\r\n\r\n" },
        { "400", POST ": a\r\n\r\n" },
        { "400", POST "nothing\r\n\r\n" },
        { "400", POST "X: a\x01\r\n\r\n" },
        { "400", "POST /a HTTP/1.1\r\n\r\n" },
        { "400", "POST /a HTTP/1.1\r\n" HOST HOST "\r\n" },
        { "400", "POST /a HTTP/1.1\n" HOST "\r\n" },
        { "400", "POST  /a HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "POST /a  HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "POST /a HTTP/1.1 \r\n" HOST "\r\n" },
        { "400", "POST /a b HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "POST /a\r\n" HOST "\r\n" },
        { "400", " POST /a HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "POST a HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET /%zz HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET /%00 HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET /% HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET * HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "POST * HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n" },
        { "400", "HEAD * HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "OPTIONS *?a HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "OPTIONS ** HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET a:80 HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET //a@b:c/ HTTP/1.1\r\nHost: a@b\r\n\r\n" },
        { "400", "GET ftp://a/ HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET http:///a HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET http:// HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET http://:80/a HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET http://b@a/ HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET http://a:b/ HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET http://[::1/ HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET http://a/ HTTP/1.1\r\n\r\n" },
        { "400", "GET /a#b HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET /a?b#c HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET http://a#b HTTP/1.1\r\n" HOST "\r\n" },
        { "400", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n" },
        { "400", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n" },
        { "400", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n" },
        { "400", "GET / HTTP/1.1\r\nHost: a:80:80\r\n\r\n" },
        { "400", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n" },
        { "400", "GET / HTTP/1.1\r\nHost: []\r\n\r\n" },
        { "400", "GET / HTTP/1.1\r\nHost: a%2\r\n\r\n" },
        { "405", "CONNECT a:80 HTTP/1.1\r\n" HOST "\r\n" },
        { "501", "BREW / HTTP/1.1\r\n" HOST "\r\n" },
        { "505", "GET / HTTP/2.0\r\n" HOST "\r\n" },
        { "505", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
        { "400", "GET / HTTP/1.x\r\n" HOST "\r\n" },
        { "400", "\x16\x03\x01\x02\n" },
    };
    static const char *const chunks[] = { "x\r\n",
                                          "5\nhello\r\n0\r\n\r\n",
                                          "+5\r\nhello\r\n0\r\n\r\n",
                                          "-1\r\n",
                                          "5\r\nhelloX\r\n0\r\n\r\n",
                                          "5\r\nhello\n0\r\n\r\n",
                                          "\r\n",
                                          " 5\r\nhello\r\n",
                                          "0x5\r\nhello\r\n",
                                          "fffffffffffffffff\r\n",
                                          "5;a\rb\r\nhello\r\n",
                                          "5;a\nb\r\nhello\r\n",
                                          "0 \r\n\r\n",
                                          "0\r\n x: y\r\n\r\n",
                                          "0\r\nx y\r\n\r\n" };
    char log[LOG_BYTES], text[512], want[64];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(cases[i].bytes, strlen(cases[i].bytes), NULL, 0, log);
        OK(strcmp(log, cases[i].status) == 0 &&
               same_in_every_split(cases[i].bytes, strlen(cases[i].bytes), cases[i].status),
           "the status is %s for bytes that are not a request, %zu", cases[i].status, i);
    }
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        size_t n = (size_t)snprintf(text, sizeof text, POST "Transfer-Encoding: chunked\r\n\r\n%s",
                                    chunks[i]);

        run(text, n, NULL, 0, log);
        snprintf(want, sizeof want, "400");
        OK(strlen(log) >= 3 && strcmp(log + strlen(log) - 3, want) == 0,
           "a wrong chunk is refused: %zu, %s", i, log);
    }
}

static void check_limits(void)
{
    size_t most = HTTP_HEAD_BYTES + HTTP_REST_BYTES + 8192, n;
    char *text = malloc(most), log[LOG_BYTES];

    n = (size_t)snprintf(text, most, "GET / HTTP/1.1\r\n" HOST "X: ");
    memset(text + n, 'x', HTTP_HEAD_BYTES);
    memcpy(text + n + HTTP_HEAD_BYTES, "\r\n\r\n", 4);
    run(text, n + HTTP_HEAD_BYTES + 4, NULL, 0, log);
    OK(strcmp(log, "431") == 0, "a head that is too long is refused: %s", log);
    memset(text, 'x', HTTP_HEAD_BYTES + 1);
    memcpy(text, "GET /", 5);
    run(text, HTTP_HEAD_BYTES + 1, NULL, 0, log);
    OK(strcmp(log, "414") == 0, "a target that is too long is refused: %s", log);
    n = (size_t)snprintf(text, most, "GET /%0*d HTTP/1.1\r\n" HOST "\r\n", HTTP_PATH_BYTES, 0);
    run(text, n, NULL, 0, log);
    OK(strcmp(log, "414") == 0, "a path that is too long is refused: %s", log);
    n = (size_t)snprintf(text, most, "GET / HTTP/1.1\r\n" HOST "X: ");
    memset(text + n, 'x', HTTP_HEAD_BYTES);
    memcpy(text + HTTP_HEAD_BYTES - 4, "\r\n\r\n", 4);
    run(text, HTTP_HEAD_BYTES, NULL, 0, log);
    OK(strcmp(log, "GET / [] keeps\n") == 0, "the longest head is accepted: %s", log);

    n = (size_t)snprintf(text, most, POST "Transfer-Encoding: chunked\r\n\r\n1;");
    memset(text + n, 'x', HTTP_LINE_BYTES);
    memcpy(text + n + HTTP_LINE_BYTES, "\r\na\r\n", 5);
    run(text, n + HTTP_LINE_BYTES + 5, NULL, 0, log);
    OK(strcmp(log + strlen(log) - 3, "400") == 0, "an extension that is too long is refused: %s",
       log);
    n = (size_t)snprintf(text, most, POST "Transfer-Encoding: chunked\r\n\r\n0\r\n");
    while (n < most - 16) {
        memcpy(text + n, "trailer: 1\r\n", 12);
        n += 12;
    }
    run(text, n, NULL, 0, log);
    OK(strcmp(log + strlen(log) - 3, "400") == 0, "trailers without end are refused: %s", log);
    n = (size_t)snprintf(text, most, POST "Transfer-Encoding: chunked\r\n\r\n");
    for (unsigned i = 0; i < 3000; i++) { /* between two pieces 27 bytes count */
        memcpy(text + n, "1;an-extension-of-a-line\r\nx\r\n", 29);
        n += 29;
    }
    memcpy(text + n, "0\r\n\r\n", 5);
    run(text, n + 5, NULL, 0, log);
    OK(strlen(log) == 3000 + strlen("POST /a [] keeps\n"),
       "extensions beside pieces of a body are read");
    for (n = 0; n < 200; n++) {
        memcpy(text + 2 * n, "\r\n", 2);
    }
    run(text, 2 * n, NULL, 0, log);
    OK(strcmp(log, "400") == 0, "empty lines without end are refused: %s", log);
    n = (size_t)snprintf(text, most, POST "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n");
    run(text, n, NULL, 0, log);
    OK(strcmp(log, "POST /a [413") == 0, "a chunk that is announced as too long is refused: %s",
       log);
    free(text);
}

/* Lists in as many fields as a head has room for are searched once. */
static void check_many_fields(void)
{
    static char head[HTTP_HEAD_BYTES];
    clock_t begin;
    size_t n = 0;

    while (n + 5 <= sizeof head) {
        memcpy(head + n, "a:b\r\n", 5);
        n += 5;
    }
    begin = clock();
    for (unsigned i = 0; i < 20; i++) {
        (void)http_field_has(head, n, "a", "c");
    }
    begin = clock() - begin;
    OK(!http_field_has(head, n, "a", "c") && begin < CLOCKS_PER_SEC / 2,
       "%zu fields of one name are found in %.2f ms", n / 5,
       (double)begin * 1000 / CLOCKS_PER_SEC / 20);
}

/* If the request names a whole address, its host counts and not Host's. */
static void check_authority(void)
{
    static const char *const targets[][2] = { { "http://x.example:80/p", "x.example:80" },
                                              { "http://x.example", "x.example" },
                                              { "/p", "a" } };

    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        char text[100];
        const char *piece;
        size_t used, piece_bytes;
        int n = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\n" HOST "\r\n", targets[i][0]);

        http_request_reset(&request);
        OK(http_request_take(&request, text, (size_t)n, &used, &piece, &piece_bytes) ==
                   HTTP_GOT_HEAD &&
               request.authority_bytes == strlen(targets[i][1]) &&
               memcmp(request.authority, targets[i][1], request.authority_bytes) == 0,
           "the host of %s is found", targets[i][0]);
    }
}

static void check_fields(void)
{
    static const char head[] = "One: 1\r\nList: a, B ;q=1 , c/2\r\nlist: d\r\nEmpty:\r\n";
    size_t n = sizeof head - 1, bytes;
    char path[8];

    OK(http_field(head, n, "LIST", 1, &bytes) != NULL && bytes == 1,
       "the second field of a name is found");
    OK(http_field(head, n, "empty", 0, &bytes) != NULL && bytes == 0,
       "a field without a value is found");
    OK(http_field(head, n, "on", 0, &bytes) == NULL &&
           http_field(head, n, "list", 2, &bytes) == NULL &&
           http_field(head, n, "lists", 0, &bytes) == NULL,
       "fields that are not there are not found");
    OK(http_field_has(head, n, "list", "b") && http_field_has(head, n, "list", "C") &&
           http_field_has(head, n, "list", "d") && !http_field_has(head, n, "list", "e") &&
           !http_field_has(head, n, "list", ""),
       "the items of a list are found");
    OK(http_decode_path("/abcdef", 7, path, sizeof path) == HTTP_PATH_GOOD &&
           http_decode_path("/abcdefg", 8, path, sizeof path) == HTTP_PATH_LONG &&
           http_decode_path("/abcdefg%", 9, path, sizeof path) == HTTP_PATH_WRONG &&
           http_decode_path("/a%1", 4, path, sizeof path) == HTTP_PATH_WRONG &&
           http_decode_path("/%7f", 4, path, sizeof path) == HTTP_PATH_WRONG,
       "paths are decoded");
}

int main(void)
{
    check_good();
    check_bad();
    check_limits();
    check_authority();
    check_many_fields();
    check_fields();
    return tap_done();
}
