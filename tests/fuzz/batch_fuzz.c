/* Lines of any bytes as requests of `ingot batch`: each is taken with values within their bounds, or refused
 * by an error message that names its line. */
#include <stdlib.h>
#include <string.h>

#include "host/cli/batch_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct options defaults;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static bool is_inside(const struct batch_file *b, const char *text, size_t bytes)
{
    return text >= b->text.bytes && text + bytes <= b->text.bytes + b->text.n_bytes &&
           text[bytes] == '\0';
}

static void check(const struct batch_file *b, const struct batch_request *q)
{
    must(is_inside(b, q->prompt, q->prompt_bytes));
    must(strlen(q->id) < sizeof q->id && strchr(q->id, '\n') == NULL);
    must(q->adapter[0] == '\0' || is_inside(b, q->adapter, strlen(q->adapter)));
    must(q->system == NULL || is_inside(b, q->system, strlen(q->system)) ||
         q->system == defaults.reply.system);
    must(q->think <= THINK_HIDE && q->n <= 1 << 20 && q->n_stops <= OPTIONS_STOPS);
    for (uint32_t i = 0; i < q->n_stops; i++) {
        must(q->stops[i][0] != '\0' && memchr(q->stops[i], '\0', sizeof q->stops[i]) != NULL);
    }
    must(q->sampler.temp >= 0 && q->sampler.temp <= 100 && q->sampler.repeat > 0);
    must(q->sampler.top_p >= 0 && q->sampler.top_p <= 1 && q->sampler.min_p >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct batch_file b = { .text.n_bytes = size };
    bool good;

    options_init(&defaults);
    b.text.bytes = malloc(size + 1);
    must(b.text.bytes != NULL);
    memcpy(b.text.bytes, data, size);
    b.text.bytes[size] = '\0';
    good = batch_file_parse(&b, "lines", &defaults);
    must(good == (b.error_message[0] == '\0') && (!good || b.n != 0));
    must(good || strncmp(b.error_message, "lines", 5) == 0);
    for (uint32_t i = 0; good && i < b.n; i++) {
        check(&b, &b.list[i]);
    }
    batch_file_free(&b);
    return 0;
}
