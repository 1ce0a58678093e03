#include "boot/arguments.h"

#include "runtime/console/console.h"

/* At another rate than the board's own, and to somebody who waits for one reply, nothing is asked. */
static bool may_ask(const struct options *o)
{
    return o->term != CONSOLE_AUTO ||
           !(options_given(o, OPTION_BAUD) || options_given(o, OPTION_PROMPT));
}

void arguments_find_terminal(struct options *o, const struct machine *machine)
{
    options_init(o);
    (void)options_parse(o, machine->args, NULL);
    if (o->mode == MODE_JSON) {
        console_speak_json();
    } else if (may_ask(o)) {
        console_find_terminal((enum console_terminal)o->term);
    }
}

static void say_option(void *bad, bool fatal, const char *sentence)
{
    bool *any = bad;

    if (fatal) {
        *any = true;
        console_log("error: %s", sentence);
    } else {
        console_log("warning: %s", sentence);
    }
}

static void set_baud(const struct options *o, const struct platform *p)
{
    if (p->console.set_baud == NULL) {
        console_log("warning: baud=%u has no effect on %s", (unsigned)o->baud, p->name);
    } else {
        console_log("the console goes on at %u baud", (unsigned)o->baud);
        p->console.set_baud(p->console.context, o->baud);
    }
    if (!options_given(o, OPTION_PROMPT) && o->mode != MODE_JSON) {
        console_find_terminal((enum console_terminal)o->term);
    }
}

static void obey(struct options *o, const struct platform *p)
{
    if (!options_given(o, OPTION_SEED)) {
        o->sampler.seed = platform_ticks(&p->clock);
    }
    if (options_given(o, OPTION_BAUD)) {
        set_baud(o, p);
    }
    if (o->pio && p->storage.use_pio != NULL) {
        p->storage.use_pio(p->storage.context);
    } else if (o->pio) {
        console_log("warning: pio is not to be had on this board");
    }
    if (p->console.flow_control != NULL && o->flow == FLOW_ON) {
        p->console.flow_control(p->console.context, true);
    }
}

bool arguments_read(struct options *o, const struct machine *machine,
                    const struct platform *platform)
{
    bool bad = false;
    struct options_report report = { say_option, &bad };

    options_init(o);
    if (machine->args_bytes >= sizeof machine->args) {
        console_log("error: %lu bytes of boot arguments, and %u are the limit",
                    (unsigned long)machine->args_bytes, BOARD_ARGS_BYTES - 1);
        bad = true;
    }
    (void)options_parse(o, machine->args, &report); /* said by say_option */
    if (bad) {
        return false;
    }
    obey(o, platform);
    return true;
}
