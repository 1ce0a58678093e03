/* /lock and /unlock: with lock= the line only chats until somebody enters the PIN. commands.c lists
 * the commands that a locked line may use, and chat/chat_json_check.c lists the fields that its
 * requests may have. All others are refused. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/app/app_private.h"
#include "runtime/app/commands_private.h"
#include "runtime/console/console.h"

enum { MOST_DOUBLINGS = 6 /* the wait of 1 s doubles this often, up to 64 s */ };

/* If lock= has an unusable value, the line is locked all the same, and no PIN opens it. */
void app_open_lock(struct app *a)
{
    struct options *o = a->setup.options;

    if (options_given(o, OPTION_LOCK) || options_refused(o, OPTION_LOCK)) {
        o->line.locked = true;
        console_log(a->setup.console, "locked: this line only chats; /unlock PIN opens it");
    }
}

void commands_refuse_locked(struct app *a, const char *name)
{
    console_printf(a->setup.console,
                   "error: /%.40s is refused while the line is locked: /unlock PIN opens it\n",
                   name);
}

static void wrong_pin(struct app *a)
{
    uint64_t pause = UINT64_C(1000) << min_u32(a->lock.n_wrong++, MOST_DOUBLINGS);

    a->lock.wait_until = console_millis(a->setup.console) + pause;
    console_printf(a->setup.console, "error: wrong PIN; try again in %u s\n",
                   (unsigned)(pause / 1000));
}

static void try_pin(struct app *a, const char *pin)
{
    const struct options *o = a->setup.options;
    size_t n = strlen(pin);

    if (!options_given(o, OPTION_LOCK)) {
        console_printf(
            a->setup.console,
            "error: lock= is not valid, so no PIN opens it: `ingot lock` makes a valid one\n");
    } else if (n < LOCK_PIN_LEAST || n > LOCK_PIN_MOST ||
               !lock_value_opens(&o->line.lock, pin, n)) {
        wrong_pin(a);
    } else {
        a->setup.options->line.locked = false;
        a->lock.n_wrong = 0;
        console_printf(a->setup.console, "unlocked; /lock locks again\n");
    }
}

enum command_result command_unlock(struct app *a, char *argument)
{
    uint64_t now = console_millis(a->setup.console);

    if (!a->setup.options->line.locked) {
        console_printf(a->setup.console, "the line is not locked\n");
    } else if (argument[0] == '\0') {
        console_printf(a->setup.console, "error: /unlock takes the PIN\n");
    } else if (now < a->lock.wait_until) {
        console_printf(a->setup.console, "error: too early after a wrong PIN: try again in %u s\n",
                       (unsigned)((a->lock.wait_until - now) / 1000 + 1));
    } else {
        try_pin(a, argument);
    }
    return COMMAND_DONE;
}

/* A line that is already locked stays locked, also for the next visitor. */
enum command_result command_lock(struct app *a, char *argument)
{
    struct options *o = a->setup.options;

    (void)argument;
    if (options_given(o, OPTION_LOCK) || o->line.locked) {
        o->line.locked = true;
        chat_forget(&a->chat);
        console_forget(a->setup.console);
        console_printf(a->setup.console, "locked: a new conversation\n");
    } else {
        console_printf(a->setup.console, "error: no PIN is set: start with the lock= that `ingot "
                                         "lock` prints\n");
    }
    return COMMAND_DONE;
}
