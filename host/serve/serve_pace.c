#include "host/serve/serve_pace.h"

/* Returns the bytes owed until now, including those for the time since `since`. */
static int64_t owed(const struct serve_pace *p, int64_t now)
{
    return p->owed + (p->waits ? (now - p->since) * SERVE_PACE_BYTES : 0);
}

void serve_pace_wait(struct serve_pace *p, int64_t now)
{
    p->owed = owed(p, now);
    p->waits = true;
    p->since = now;
}

void serve_pace_take(struct serve_pace *p, int64_t now, size_t n, bool all)
{
    int64_t left = owed(p, now) - (int64_t)n * 1000;

    p->owed = left > 0 ? left : 0;
    p->waits = !all;
    p->since = now;
}

int64_t serve_pace_delay(const struct serve_pace *p, int64_t now)
{
    return owed(p, now) / SERVE_PACE_BYTES;
}
