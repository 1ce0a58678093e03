/* Which connection of `ingot serve` makes room for another, and that the search takes time like the
 * list's length, not its square. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/serve/serve_sockets_private.h"
#include "tests/unit/tap.h"

enum { FEW_CALLERS = 500, MANY_CALLERS = 8000 };

static struct sockets sockets;
static bool busy[MANY_CALLERS];

static bool is_busy(const void *user)
{
    return *(const bool *)user;
}

/* Opens n connections; connection i comes from caller i % callers, and was quiet for i ms. */
static void open_all(size_t n, size_t callers)
{
    sockets.setup.is_busy = is_busy;
    sockets.most = n + 1;
    sockets.n = 0;
    sockets.now = 1000000;
    sockets.all = calloc(n + 1, sizeof *sockets.all);
    sockets.counts = calloc(n + 1, sizeof *sockets.counts);
    memset(busy, 0, sizeof busy);
    for (size_t i = 0; i < n; i++) {
        struct connection *k = calloc(1, sizeof *k);
        size_t caller = i % callers;

        memcpy(k->caller, &caller, sizeof caller);
        k->group = callers > FEW_CALLERS ? caller : serve_room_group(&sockets, k->caller);
        k->heard = sockets.now - (int64_t)i;
        k->http.stage = HTTP_READS;
        k->user = &busy[i];
        sockets.all[sockets.n++] = k;
    }
}

static void close_all(void)
{
    for (size_t i = 0; i < sockets.n; i++) {
        free(sockets.all[i]);
    }
    free(sockets.all);
    free(sockets.counts);
}

/* Returns the connection that was given up; SIZE_MAX: none. */
static size_t given_up(const size_t *caller)
{
    unsigned char name[SERVE_CALLER_BYTES] = { 0 };

    if (caller != NULL) {
        memcpy(name, caller, sizeof *caller);
    }
    if (!serve_room_make(&sockets, caller != NULL ? name : NULL)) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < sockets.n; i++) {
        if (sockets.all[i]->broken) {
            sockets.all[i]->broken = false;
            return i;
        }
    }
    return SIZE_MAX;
}

static void check_choice(void)
{
    size_t caller = 2;

    open_all(10, 4); /* callers 0 and 1 have three each, 2 and 3 two */
    OK(sockets.all[1]->group == sockets.all[9]->group &&
           sockets.all[1]->group != sockets.all[0]->group &&
           serve_room_count(&sockets, sockets.all[9]->caller) == 3,
       "the connections of a caller are a group");
    OK(given_up(NULL) == 9,
       "the longest silent connection of the address with the most is given up");
    OK(given_up(&caller) == 6, "a caller gives up a connection of its own");
    sockets.all[9]->broken = true;
    OK(serve_room_count(&sockets, sockets.all[9]->caller) == 2,
       "a broken connection does not count");
    sockets.all[9]->broken = false;
    busy[9] = true;
    OK(given_up(NULL) == 8, "a busy connection stays");
    sockets.all[0]->http.stage = HTTP_WORKS;
    sockets.all[4]->http.stage = HTTP_DROPS;
    OK(given_up(NULL) == 4, "a connection that only sends dropped bytes is closed first");
    sockets.all[4]->http.stage = HTTP_ANSWERS;
    sockets.all[4]->out_bytes = 1;
    serve_pace_wait(&sockets.all[4]->pace, sockets.now - 1000);
    OK(given_up(NULL) == 8, "a connection that reads its answer stays");
    sockets.all[4]->pace.since = sockets.now - UNREAD_MS - 1;
    sockets.all[1]->served = sockets.all[5]->served = sockets.all[8]->served = true;
    OK(given_up(NULL) == 4,
       "a connection that does not read is closed before one that waits for its next request");
    close_all();
}

static double seconds_of(size_t n)
{
    clock_t begin;
    double spent;

    open_all(n, n);
    begin = clock();
    for (unsigned i = 0; i < 5; i++) {
        (void)given_up(NULL);
    }
    spent = (double)(clock() - begin) / CLOCKS_PER_SEC;
    close_all();
    return spent;
}

int main(void)
{
    double few, many;

    check_choice();
    few = seconds_of(FEW_CALLERS);
    many = seconds_of(MANY_CALLERS);
    /* Sixteen times as many take 16 times as long, and not 256 times. */
    OK(many < 80 * few || many < 0.05, "%d callers take %.1f ms, and %d take %.1f ms", FEW_CALLERS,
       few * 1000, MANY_CALLERS, many * 1000);
    return tap_done();
}
