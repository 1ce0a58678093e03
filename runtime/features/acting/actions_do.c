/* Execution of calls. */
#include <string.h>

#include "runtime/features/acting/actions.h"
#include "runtime/text/format_text.h"

static bool fail(char *result, const char *why)
{
    format_text(result, ACTION_TEXT_BYTES, "%s", why);
    return false;
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Count one more action and return true if the limit allows the action. */
static bool may_act(struct actions *a)
{
    const struct platform_clock *clock = &a->platform->clock;
    uint64_t now = platform_ticks(clock);
    uint64_t *oldest;

    if (a->a_minute == 0) {
        return true;
    }
    oldest = &a->times[a->n_times % a->a_minute];
    if (a->n_times >= a->a_minute && now - *oldest < 60 * clock->hz) {
        return false;
    }
    *oldest = now;
    a->n_times++;
    return true;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static bool say_state(struct actions *a, unsigned pin, bool on, char *result)
{
    format_text(result, ACTION_TEXT_BYTES, "%s is %s", a->pins.list.pin[pin].name,
                on ? "on" : "off");
    return true;
}

static bool do_output(struct actions *a, unsigned pin, bool on, char *result)
{
    const char *error_message = pins_write(&a->pins, pin, on);

    return error_message == NULL ? say_state(a, pin, on, result) : fail(result, error_message);
}

static bool do_input(struct actions *a, unsigned pin, char *result)
{
    bool on;
    const char *error_message = pins_read(&a->pins, pin, &on);

    return error_message == NULL ? say_state(a, pin, on, result) : fail(result, error_message);
}

static bool say_degrees(const char *name, int32_t milli, char *result)
{
    char number[FORMAT_NUMBER_BYTES];

    format_milli(number, (uint64_t)(milli < 0 ? -(int64_t)milli : milli), 1);
    format_text(result, ACTION_TEXT_BYTES, "%s is %s%s C", name, milli < 0 ? "-" : "", number);
    return true;
}

static bool do_sensor(struct actions *a, unsigned i, char *result)
{
    char error_message[SENSOR_ERROR_MESSAGE_BYTES];
    int32_t milli;

    if (a->pins.dry) {
        return fail(result, "a dry run reads no sensor");
    }
    if (!sensors_read(&a->sensors, i, &milli, error_message)) {
        return fail(result, error_message);
    }
    return say_degrees(a->sensors.list.sensor[i].name, milli, result);
}

static bool do_temperature(const struct actions *a, char *result)
{
    const struct platform_health *p = &a->platform->health;
    struct board_health health = { .temperature = BOARD_NO_TEMPERATURE };

    if (p->read != NULL) {
        p->read(p->context, &health);
    }
    if (health.temperature == BOARD_NO_TEMPERATURE) {
        return fail(result, "this machine does not tell its temperature");
    }
    return say_degrees("temperature", health.temperature, result);
}

static bool do_uptime(const struct actions *a, char *result)
{
    const struct platform_clock *clock = &a->platform->clock;

    format_text(result, ACTION_TEXT_BYTES, "uptime is %llu s",
                (unsigned long long)((platform_ticks(clock) - clock->start) / clock->hz));
    return true;
}

/* Wait, and feed the watchdog meanwhile. Returns false if the user stopped the wait. */
static bool wait_millis(const struct actions *a, uint32_t ms, const struct stop *stop)
{
    const struct platform_clock *clock = &a->platform->clock;
    uint64_t start = platform_ticks(clock);

    while (platform_ticks(clock) - start < clock->hz * ms / 1000) {
        platform_alive(&a->platform->power);
        if (stop_is_asked(stop)) {
            return false;
        }
    }
    return true;
}

static bool do_pulse(struct actions *a, unsigned pin, uint32_t ms, const struct stop *stop,
                     char *result)
{
    const char *error_message = pins_write(&a->pins, pin, true);
    bool whole;

    if (error_message != NULL) {
        return fail(result, error_message);
    }
    whole = a->pins.dry || wait_millis(a, ms, stop);
    (void)pins_write(&a->pins, pin, false);
    if (!whole) {
        return fail(result, "the pulse was stopped, and its line is off");
    }
    format_text(result, ACTION_TEXT_BYTES, "%s was on for %u ms", a->pins.list.pin[pin].name,
                (unsigned)ms);
    return true;
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* Repeat the checks of action_call_read, for callers that have not used it. */
static bool is_sound(const struct actions *a, const struct action_call *call)
{
    const struct action *action = call->action;

    if (action == NULL || action < a->list || action >= a->list + a->n) {
        return false;
    }
    for (unsigned k = 0; k < action->n_arguments; k++) {
        const struct action_argument *g = &action->argument[k];
        uint32_t value = call->value[k];

        if ((g->kind == ARGUMENT_SWITCH && value > 1) ||
            (g->kind == ARGUMENT_LINE && (value >= PINS_MOST || (g->lines >> value & 1) == 0)) ||
            (g->kind == ARGUMENT_NUMBER && (value < g->least || value > g->most))) {
            return false;
        }
    }
    return true;
}

static bool act(struct actions *a, const struct action_call *call, const struct stop *stop,
                char *result)
{
    switch (call->action->kind) {
    case ACTION_OUTPUT: return do_output(a, call->action->pin, call->value[0] != 0, result);
    case ACTION_INPUT: return do_input(a, call->action->pin, result);
    case ACTION_SENSOR: return do_sensor(a, call->action->pin, result);
    case ACTION_TEMPERATURE: return do_temperature(a, result);
    case ACTION_UPTIME: return do_uptime(a, result);
    default: return do_pulse(a, call->value[0], call->value[1], stop, result);
    }
}

bool actions_do(struct actions *a, const struct action_call *call, const struct stop *stop,
                char result[ACTION_TEXT_BYTES])
{
    if (!is_sound(a, call)) {
        return fail(result, "the table has no such action");
    }
    if (!may_act(a)) {
        format_text(result, ACTION_TEXT_BYTES, "too many actions: the limit is %u a minute",
                    (unsigned)a->a_minute);
        return false;
    }
    if (!act(a, call, stop, result)) {
        return false;
    }
    call->action->done++;
    return true;
}
