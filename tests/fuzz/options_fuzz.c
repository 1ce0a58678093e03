/* Boot arguments of any bytes: stored values are within their bounds, and an error has an error
 * message. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/options/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct options o;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

struct listener {
    unsigned fatal;
};

static void listen(void *context, bool fatal, const char *error_message)
{
    struct listener *l = context;

    l->fatal += fatal;
    must(strlen(error_message) > 20 && strlen(error_message) < OPTIONS_ERROR_MESSAGE_BYTES);
    for (; *error_message != '\0'; error_message++) {
        must(*error_message >= ' ' && *error_message <= '~');
    }
}

/* Bytes above 0x7f stand for pieces of words, so that random bytes make arguments that are nearly
 * right; other bytes stand for themselves. */
static char *make_args(const uint8_t *data, size_t size)
{
    static const char *const piece[] = {
        "temp=", "prompt=\"", "model=", "n=",       "top_p=", "top_k=",      "min_p=",   "repeat=",
        "seed=", "ctx=",      "mem=",   "cores=",   "isa=",   "baud=",       "selftest", "ids",
        "\" ",   "\\",        "\"",     " ",        "=",      "1",           "0.5",      "64M",
        "e9",    "-",         "root=",  "console=", "0x",     "99999999999", ".",        "\n",
    };
    char *args = malloc(size * 12 + 1);
    size_t at = 0;

    must(args != NULL);
    for (size_t i = 0; i < size; i++) {
        if (data[i] >= 0x80) {
            const char *p = piece[data[i] % (sizeof piece / sizeof piece[0])];

            memcpy(args + at, p, strlen(p));
            at += strlen(p);
        } else {
            args[at++] = (char)data[i];
        }
    }
    args[at] = '\0';
    return args;
}

static void check(const struct options *p)
{
    must(strlen(p->load.model) < sizeof p->load.model &&
         strlen(p->machine.isa) < sizeof p->machine.isa);
    must(strlen(p->reply.prompt) == p->reply.prompt_bytes &&
         p->reply.prompt_bytes < sizeof p->reply.prompt);
    must(p->sampler.temp >= 0 && p->sampler.temp <= 100);
    must(p->sampler.top_p >= 0 && p->sampler.top_p <= 1);
    must(p->sampler.min_p >= 0 && p->sampler.min_p <= 1);
    must(p->sampler.repeat > 0 && p->sampler.repeat <= 100);
    must(p->machine.cores <= 8 && p->load.ctx <= 1 << 20 && p->reply.n <= 1 << 20);
    must(options_given(p, OPTION_MEM) == (p->load.mem > 0));
}

/* Makes numbers out of the characters that numbers have. */
static void check_numbers(const uint8_t *data, size_t size)
{
    char text[24];
    float f;
    uint64_t n;
    size_t at = 0;

    for (; at < size && at + 1 < sizeof text; at++) {
        text[at] = "0123456789.e+-35KMxG"[data[at] % 20];
    }
    text[at] = '\0';
    must(!options_read_float(text, &f) || (isfinite(f) && f == strtof(text, NULL)));
    must(!options_read_u64(text, false, &n) || n == strtoull(text, NULL, text[1] == 'x' ? 16 : 10));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct listener l = { 0 };
    struct options_report report = { listen, &l };
    char *args = make_args(data, size < 16384 ? size : 16384);
    enum err err;

    check_numbers(data, size);
    options_init(&o);
    err = options_parse(&o, args, &report);
    must((err == ERR_OK) == (l.fatal == 0));
    check(&o);
    free(args);
    return 0;
}
