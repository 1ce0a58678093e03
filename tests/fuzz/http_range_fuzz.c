/* Any bytes as what a server of files answers. Given whole and in pieces, the client comes to the same end with the same bytes; it writes only to
 * the room for the range, and an answer that it takes as whole has all of it. The first byte chooses what was asked. */
#include <stdlib.h>
#include <string.h>

#include "runtime/http/http_range.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 64, FIRST = 100, GOT = 7 };

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

struct end {
    enum http_range_state state;
    uint64_t got;
    int status;
    uint8_t bytes[ROOM];
};

static struct end take(const uint8_t *data, size_t size, unsigned how, size_t step)
{
    static const struct http_version any = { 0 }, known = { 1000, "\"t\"", "" };
    struct http_range *r = malloc(sizeof *r);
    uint64_t got = how & 1 ? GOT : 0;
    uint8_t *room = calloc(1, ROOM);
    struct end e = { 0 };

    http_range_begin(r, how & 2 ? &known : &any, FIRST, ROOM, got, room);
    for (size_t at = 0; at < size;) {
        size_t n = step != 0 && step < size - at ? step : size - at;

        http_range_take(r, (const char *)data + at, n);
        at += n;
    }
    http_range_end(r);
    must(r->got >= got && r->got <= ROOM);
    must(r->state != HTTP_RANGE_READS && (r->state != HTTP_RANGE_DONE || r->got == ROOM));
    must((r->error_message == NULL) == (r->state == HTTP_RANGE_DONE));
    must(r->state != HTTP_RANGE_DONE ||
         (r->seen.bytes >= FIRST + ROOM && strlen(r->seen.tag) < HTTP_TAG_BYTES));
    e.state = r->state;
    e.got = r->got;
    e.status = r->status;
    memcpy(e.bytes, room, ROOM);
    free(room);
    free(r);
    return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct end whole, pieces;

    if (size == 0) {
        return 0;
    }
    whole = take(data + 1, size - 1, data[0], 0);
    for (size_t step = 1; step < 8; step += 3) {
        pieces = take(data + 1, size - 1, data[0], step);
        must(whole.state == pieces.state && whole.got == pieces.got &&
             whole.status == pieces.status && memcmp(whole.bytes, pieces.bytes, ROOM) == 0);
    }
    return 0;
}
