#include "runtime/features/acting/pins.h"

#include "runtime/text/format_text.h"

enum { ERROR_MESSAGE_BYTES = 160 };

static bool can_touch(const struct platform_pins *p)
{
    return p->error_message != NULL && p->setup != NULL && p->write != NULL && p->read != NULL;
}

/* Return the reason why a pin must not be used, or NULL if it may be used. */
static const char *error_message_of(const struct platform_pins *platform, const struct pin *pin)
{
    if (!can_touch(platform)) {
        return "this machine has no lines that Ingot can drive";
    }
    return platform->error_message(platform->context, pin->line);
}

/* Set up the pins. Outputs are off at first. */
static void set_up(struct pins *p)
{
    if (p->is_set) {
        return;
    }
    for (unsigned i = 0; i < p->list.n; i++) {
        const struct pin *pin = &p->list.pin[i];

        p->platform->setup(p->platform->context, pin->line, !pin->input, pin->low);
    }
    p->is_set = true;
}

void pins_open(struct pins *p, const struct platform_pins *platform, const struct pin_list *list,
               bool dry, pins_say_fn *say, void *context)
{
    char error_message[ERROR_MESSAGE_BYTES];

    *p = (struct pins){ .platform = platform, .dry = dry };
    for (unsigned i = 0; i < list->n; i++) {
        const struct pin *pin = &list->pin[i];
        const char *why = error_message_of(platform, pin);

        if (why == NULL) {
            p->list.pin[p->list.n++] = *pin;
            continue;
        }
        format_text(error_message, sizeof error_message, "%s:%u of pins= is not used: %s",
                    pin->name, (unsigned)pin->line, why);
        say(context, error_message);
    }
    if (!dry) {
        set_up(p);
    }
}

void pins_set_dry(struct pins *p, bool dry)
{
    if (!dry) {
        set_up(p);
    }
    p->dry = dry;
}

/* Check a line before it is touched: it must be a named pin, and the board must still permit its
 * use. */
static const char *check(const struct pins *p, unsigned i, bool writes)
{
    if (i >= p->list.n) {
        return "no pin of that name is in pins=";
    }
    if (writes && p->list.pin[i].input) {
        return "it is an input, and is never written";
    }
    return error_message_of(p->platform, &p->list.pin[i]);
}

const char *pins_write(struct pins *p, unsigned i, bool on)
{
    const char *error_message = check(p, i, true);

    if (error_message != NULL) {
        return error_message;
    }
    p->on = (p->on & ~(UINT32_C(1) << i)) | (uint32_t)on << i;
    if (!p->dry) {
        p->platform->write(p->platform->context, p->list.pin[i].line, on != p->list.pin[i].low);
    }
    return NULL;
}

const char *pins_read(struct pins *p, unsigned i, bool *on)
{
    const char *error_message = check(p, i, false);

    if (error_message != NULL) {
        return error_message;
    }
    *on = (p->on >> i & 1) != 0;
    if (!p->dry) {
        *on = p->platform->read(p->platform->context, p->list.pin[i].line) != p->list.pin[i].low;
    }
    return NULL;
}
