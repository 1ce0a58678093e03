/* Handle boot options that are well formed, but that this model or this card cannot use. */
#include <string.h>

#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/text/format_text.h"

enum { OPTION_BYTES = OPTIONS_MODEL_BYTES + 8 };

/* Write mem= in the unit in which it was probably given. */
static void describe_mem(uint64_t bytes, char option[OPTION_BYTES])
{
    static const char units[] = "\0KMG";
    unsigned unit = 0;

    while (unit < 3 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    format_text(option, OPTION_BYTES, "mem=%llu%.1s", (unsigned long long)bytes, units + unit);
}

/* Describe an option as the user may have written it, and return the default that replaces it. */
static const char *describe(const struct options_load *load, enum option which,
                            char option[OPTION_BYTES])
{
    char types[KV_TYPES_NAME_BYTES];

    switch (which) {
    case OPTION_MEM: describe_mem(load->mem, option); return "all free memory is used";
    case OPTION_CTX:
        format_text(option, OPTION_BYTES, "ctx=%u", (unsigned)load->ctx);
        return "the default is used";
    case OPTION_TOGETHER:
        format_text(option, OPTION_BYTES, "together=%u", (unsigned)load->together);
        return "one sequence is used";
    case OPTION_DRAFT:
        format_text(option, OPTION_BYTES, "draft=%s", load->draft);
        return "no draft is used";
    case OPTION_ADAPTER:
        format_text(option, OPTION_BYTES, "adapter=%s", load->adapter);
        return "no adapter is used";
    default:
        if (load->kv.card) {
            format_text(option, OPTION_BYTES, "kv=card");
            return "keys and values stay in memory";
        }
        format_text(option, OPTION_BYTES, "kv=%s", kv_types_name(load->kv.types, types));
        return "kv=f16 is used";
    }
}

static void forget(struct options_load *load, enum option which)
{
    switch (which) {
    case OPTION_MEM: load->mem = 0; break;
    case OPTION_CTX: load->ctx = 0; break;
    case OPTION_TOGETHER: load->together = 1; break;
    case OPTION_DRAFT: load->draft[0] = '\0'; break;
    case OPTION_ADAPTER: load->adapter[0] = '\0'; break;
    default:
        if (load->kv.card) {
            load->kv.card = false;
        } else {
            load->kv.types = kv_both(KV_F16);
        }
        break;
    }
}

enum err app_obey_options(struct app *a)
{
    struct options *o = a->setup.options;
    enum err e = app_begin(a, APP_MODEL, 0);

    while (e != ERR_OK && a->setup.front == APP_CONSOLE && a->at_fault != OPTION_COUNT) {
        char option[OPTION_BYTES];
        const char *instead = describe(&o->load, a->at_fault, option);

        console_log(a->setup.console, "warning: %s cannot be used: %s; %s", option,
                    a->error_message, instead);
        forget(&o->load, a->at_fault);
        a->gave_up = true;
        e = app_begin(a, APP_MODEL, 0);
    }
    return e;
}
