/* The current answer as a console of the chat: what the chat writes goes to the client, and the
 * network works while the chat computes. */
#include <string.h>

#include "runtime/api/api.h"

enum { CTRL_C = 3, POLL_HZ = 1000 };

uint64_t api_now_ms(const struct api *a)
{
    const struct platform_clock *clock = &a->setup.platform->clock;

    return platform_ticks(clock) / (clock->hz / POLL_HZ != 0 ? clock->hz / POLL_HZ : 1);
}

/* Make room by dropping the bytes that were fetched. */
static size_t make_room(struct api_client *k)
{
    memmove(k->out, k->out + k->out_at, k->out_end - k->out_at);
    k->out_end -= k->out_at;
    k->out_at = 0;
    return API_OUT_BYTES - k->out_end;
}

bool api_is_gone(const struct api *a)
{
    return a->work->client->callers != a->work->caller;
}

/* The whole board waits here, so a client that reads a long answer slowly must not hold the board
 * until the answer's end. */
bool api_out(struct api *a, const char *bytes, size_t n)
{
    struct api_work *w = a->work;
    struct api_client *k = w->client;
    uint64_t start = api_now_ms(a), waited = 0;

    while (!api_is_gone(a) && n > make_room(k)) {
        waited = api_now_ms(a) - start;
        if (n > API_OUT_BYTES || waited > API_SLOW_MS || w->waited_ms + waited > API_SLOW_ALL_MS) {
            return false;
        }
        platform_alive(&a->setup.platform->power);
        a->setup.poll(a->setup.context);
    }
    w->waited_ms += waited;
    if (api_is_gone(a)) {
        return false;
    }
    memcpy(k->out + k->out_end, bytes, n);
    k->out_end += n;
    return true;
}

static void put_byte(void *context, char byte)
{
    api_event_byte(context, byte);
}

/* The console asks for input again and again while the model works, so let the network work here. A
 * client that is gone, or that does not take its answer, counts as one Ctrl-C. The next call
 * returns no byte, because the console asks until there is none. */
static int get_byte(void *context)
{
    struct api *a = context;
    uint64_t now = api_now_ms(a);

    if (now != a->last_poll) {
        a->last_poll = now;
        a->setup.poll(a->setup.context);
    }
    a->work->stops = (api_is_gone(a) || a->work->failed) && !a->work->stops;
    return a->work->stops ? CTRL_C : CONSOLE_NO_BYTE;
}

/* Make the answer the platform's console. A display does not show the text. */
void api_open_console(struct api *a)
{
    static const struct console_setup setup = { .serial = false, .echo = false };

    a->platform = *a->setup.platform;
    a->platform.console =
        (struct platform_console){ .context = a, .putc = put_byte, .getc = get_byte };
    a->platform.screen = (struct platform_screen){ .columns = 0 };
    console_open(&a->console, &a->platform, &setup);
    console_speak_json(&a->console);
}
