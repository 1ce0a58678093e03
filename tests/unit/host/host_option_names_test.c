/* Boot arguments in the runtime's error messages become options, and nothing else changes. */
#include <string.h>

#include "host/args/host_option_names.h"
#include "tests/unit/tap.h"

static const struct {
    const char *in, *out;
} rows[] = {
    { "raise mem= to at least 9 KiB", "raise --mem to at least 9 KiB" },
    { "a shorter ctx=", "a shorter --ctx" },
    { "or with ctx=1024, or less", "or with --ctx 1024, or less" },
    { "kv=f16 or kv=card,q8", "--kv f16 or --kv card,q8" },
    { "cores=4: and n=8", "--threads 4: and --predict 8" },
    { "lower ctx=.\n", "lower --ctx.\n" },
    { "top_p=0.5", "--top-p 0.5" },
    { "system= has no effect", "--system has no effect" },
    { "a/mem=64.ingot and xmem=3 and mem and nosuch=1",
      "a/mem=64.ingot and xmem=3 and mem and nosuch=1" },
    { "", "" },
};

int main(void)
{
    char out[128];
    size_t n;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        n = host_option_names_rewrite(rows[i].in, strlen(rows[i].in), out, sizeof out);
        OK(n == strlen(rows[i].out) && memcmp(out, rows[i].out, n) == 0, "%s becomes %.*s",
           rows[i].in, (int)n, out);
    }
    n = host_option_names_rewrite("ctx=ctx=", 8, out, 8);
    OK(n == 8 && memcmp(out, "ctx=ctx=", 8) == 0,
       "a text without room for more stays as it is: %.*s", (int)n, out);
    n = host_option_names_rewrite("ctx=ctx=", 8, out, 5);
    OK(n == 5 && memcmp(out, "ctx=c", 5) == 0, "an option is cut where the buffer ends");
    return tap_done();
}
