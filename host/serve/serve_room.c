#ifdef INGOT_HTTP

#include <string.h>
#include <sys/resource.h>

#include "host/serve/serve_sockets_private.h"

size_t serve_room_most(void)
{
    struct rlimit limit;
    size_t most = CONNECTIONS_MOST;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < most + FILES_RESERVED) {
        most = limit.rlim_cur > 2 * FILES_RESERVED ? (size_t)limit.rlim_cur - FILES_RESERVED
                                                   : FILES_RESERVED;
    }
    return most;
}

size_t serve_room_count(const struct sockets *s, const unsigned char caller[SERVE_CALLER_BYTES])
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        n += !s->all[i]->broken && memcmp(s->all[i]->caller, caller, SERVE_CALLER_BYTES) == 0;
    }
    return n;
}

/* Counts each group's connections; broken ones count only if `broken` is true. */
static void count_groups(struct sockets *s, bool broken)
{
    memset(s->counts, 0, s->most * sizeof *s->counts);
    for (size_t i = 0; i < s->n; i++) {
        s->counts[s->all[i]->group] += broken || !s->all[i]->broken;
    }
}

size_t serve_room_group(struct sockets *s, const unsigned char caller[SERVE_CALLER_BYTES])
{
    size_t group = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (memcmp(s->all[i]->caller, caller, SERVE_CALLER_BYTES) == 0) {
            return s->all[i]->group;
        }
    }
    count_groups(s, true);
    while (s->counts[group] != 0) {
        group++;
    }
    return group;
}

/* Returns how soon a connection is given up: the connection with the largest result goes first, and
 * a connection with 0 stays. Connections that linger go first, then those whose request's rest is
 * dropped, then slow readers and connections that had no answer yet, then others. In each of these
 * groups, the connection with the longest silence goes first. A connection with a running request
 * stays. */
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
        return serve_pace_delay(&k->pace, s->now) > UNREAD_MS ? quiet + SPARE_STEP : 0;
    }
    if (k->http.stage == HTTP_DROPS) {
        return quiet + 2 * SPARE_STEP;
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

    count_groups(s, false);
    for (size_t i = 0; i < s->n; i++) {
        struct connection *k = s->all[i];
        int64_t its = spare(s, k);
        size_t count = caller == NULL ? s->counts[k->group] : 0;

        if (its == 0 || (caller != NULL && memcmp(k->caller, caller, SERVE_CALLER_BYTES) != 0)) {
            continue;
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
