#ifdef INGOT_HTTP

#include <string.h>

#include "host/serve_sockets_private.h"

size_t serve_room_count(const struct sockets *s, const unsigned char caller[SERVE_CALLER_BYTES])
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        n += !s->all[i]->broken && memcmp(s->all[i]->caller, caller, SERVE_CALLER_BYTES) == 0;
    }
    return n;
}

/* How gladly a connection is given up; 0: not at all. One whose request is at work stays; one that has asked nothing yet goes before
 * one that has, and in each kind the one that was quiet for longest. */
static int64_t spare(const struct sockets *s, const struct connection *k)
{
    int64_t quiet = s->now - k->heard + 1;

    if (k->broken) {
        return 0;
    }
    if (k->lingers) {
        return quiet + 3 * SPARE_STEP;
    }
    if (k->out_at < k->out_bytes) {
        return s->now - k->wrote > UNREAD_MS ? quiet + SPARE_STEP : 0;
    }
    if (k->http.stage != HTTP_READS && k->http.stage != HTTP_SOCKET) {
        return 0;
    }
    if (s->setup.is_busy(k->user)) {
        return 0;
    }
    return k->served || k->http.stage == HTTP_SOCKET ? quiet : quiet + SPARE_STEP;
}

bool serve_room_make(struct sockets *s, const unsigned char *caller)
{
    struct connection *best = NULL;
    int64_t best_spare = 0;
    size_t best_count = 0;

    for (size_t i = 0; i < s->n; i++) {
        struct connection *k = s->all[i];
        int64_t its = spare(s, k);
        size_t count = 0;

        if (its == 0 || (caller != NULL && memcmp(k->caller, caller, SERVE_CALLER_BYTES) != 0)) {
            continue;
        }
        if (caller == NULL) {
            count = best != NULL && memcmp(best->caller, k->caller, SERVE_CALLER_BYTES) == 0
                        ? best_count
                        : serve_room_count(s, k->caller);
        }
        if (best == NULL || count > best_count || (count == best_count && its > best_spare)) {
            best = k;
            best_spare = its;
            best_count = count;
        }
    }
    if (best != NULL) {
        best->broken = true;
    }
    return best != NULL;
}
#endif
