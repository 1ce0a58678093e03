/* When a reader is given up while an answer is sent: only the other side's slowness counts, by the
 * bytes that it takes. */
#include "host/serve/serve_pace.h"
#include "tests/unit/tap.h"

/* The other side takes n bytes of an endless answer every `ms`. Returns the delay after so many
 * seconds. */
static int64_t delay_after(unsigned seconds, int64_t ms, size_t n)
{
    struct serve_pace p = { .waits = false };
    int64_t now = 0;

    serve_pace_wait(&p, now);
    for (; now + ms <= (int64_t)seconds * 1000; serve_pace_take(&p, now, n, false)) {
        now += ms;
    }
    return serve_pace_delay(&p, (int64_t)seconds * 1000);
}

/* The server has n bytes every `ms`; they are taken `slow` ms later. */
static int64_t stream_delay(unsigned seconds, int64_t ms, int64_t slow, size_t n)
{
    struct serve_pace p = { .waits = false };
    int64_t now = 0;

    for (; now < (int64_t)seconds * 1000; now += ms) {
        serve_pace_wait(&p, now);
        serve_pace_take(&p, now + slow, n, true);
    }
    return serve_pace_delay(&p, now);
}

int main(void)
{
    struct serve_pace p = { .waits = false };

    OK(delay_after(70, 9000, 1) > 60000, "a byte every nine seconds is too slow");
    OK(delay_after(70, 1000000, 1) == 70000,
       "a caller that takes nothing has used up the whole time");
    OK(delay_after(100, 100, SERVE_PACE_BYTES / 20) > 45000 &&
           delay_after(100, 100, SERVE_PACE_BYTES / 20) < 55000,
       "a caller that takes half of what it has to has used half of the time");
    OK(delay_after(3600, 1000, SERVE_PACE_BYTES) == 0,
       "a caller that takes just enough is never late, for an hour");
    OK(delay_after(3600, 10000, 20 * SERVE_PACE_BYTES) < 10000,
       "a caller that takes larger pieces is not late either");
    OK(delay_after(3655, 50000, 50 * SERVE_PACE_BYTES) == 5000, "pauses do not add up");
    OK(stream_delay(3600, 20000, 0, 1) == 0,
       "a server that has a byte every twenty seconds slows nobody down");
    OK(stream_delay(3600, 1000, 100, 52) == 0,
       "a caller that needs a moment for a stream is not slowed down");
    serve_pace_wait(&p, 0);
    serve_pace_take(&p, 10000, 1000000000, false);
    OK(serve_pace_delay(&p, 70000) == 60000, "early bytes are not credited to later ones");
    return tap_done();
}
