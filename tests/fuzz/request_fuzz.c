/* Any bytes as a program's line: they are parsed as a request, as its list of ids, and in the ring
 * of the console, where a cancelling line is looked for, with frames and without. */
#include <stdlib.h>
#include <string.h>

#include "runtime/wire/json_biases.h"
#include "runtime/wire/json_ids.h"
#include "runtime/wire/json_settings.h"
#include "runtime/console/console.h"
#include "runtime/console/console_json.h"
#include "tests/unit/console/console_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 2048 };

static struct options options;
static const uint8_t *left;
static size_t n_left;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void lose(void *context, char c)
{
    (void)context;
    (void)c;
}

static int next_byte(void *context)
{
    (void)context;
    if (n_left == 0) {
        return CONSOLE_CLOSED;
    }
    n_left--;
    return *left++;
}

static uint64_t no_time(void *context)
{
    (void)context;
    return 0;
}

static void say(void *context, bool refused, const char *error_message)
{
    (void)context;
    must(!refused || error_message[0] != '\0');
}

static void check_ids(const char *list)
{
    uint32_t n, count = 0, id;
    const char *error_message = json_ids_check(list, 1000, 50, &n);

    must(error_message != NULL || (n >= 1 && n <= 50));
    while (error_message == NULL && json_ids_next(&list, &id)) {
        must(id < 1000);
        count++;
    }
    must(error_message != NULL || (count == n && list == NULL));
}

/* Reads pairs with numbers of tokens; texts need a tokenizer. The list is overwritten. */
static void check_biases(char *list, size_t bytes)
{
    static struct ingot_header header = { .params.vocab = 1000 };
    static struct model model = { .image.header = &header };
    static const struct session session = { .model = &model };
    static struct json_biases biases;
    const char *error_message;

    if (memchr(list, '"', bytes) != NULL) {
        return;
    }
    error_message = json_biases_read(&biases, list, bytes, &session);
    must(error_message == NULL || error_message[0] != '\0');
    must(biases.n <= SAMPLER_BIASES_MOST);
    for (uint32_t i = 0; i < biases.n; i++) {
        float add = biases.list[i].add;

        must(biases.list[i].id < 1000 && ((add >= -100 && add <= 100) || add == SAMPLER_BAN));
    }
}

static void check_request(char *line, size_t n)
{
    const struct options_report report = { say, NULL };
    struct json_request r;

    json_request_read(&r, line, n);
    must((r.error == NULL) == (r.text[0] == '\0'));
    for (unsigned i = 0; i < JSON_N_FIELDS; i++) {
        const char *value = r.values[i];

        if (value == NULL) {
            continue;
        }
        must(strlen(value) <= n && strlen(value) >= r.bytes[i]);
        if (i == JSON_FIELD_IDS) {
            check_ids(value);
        }
        if (i == JSON_FIELD_LOGIT_BIAS) {
            check_biases(r.values[i], r.bytes[i]);
        }
        if (i >= JSON_FIELD_OPTIONS && r.error == NULL) {
            (void)json_request_set(&r, (enum json_field)i, &options, &report);
            must(options.reply.n_stops <= OPTIONS_STOPS);
        }
    }
}

/* Looks whether a request of some id is cancelled, before it begins and as its lines come. */
static void check_cancel(const uint8_t *data, size_t n, bool frames)
{
    static char line[256];
    struct console_rig rig = { .putc = lose, .getc = next_byte, .ticks = no_time, .hz = 1000 };
    size_t bytes;

    console_rig_open(&rig);
    console_speak_json(&console);
    console_frames_set(&console.json.frames, frames);
    left = data;
    n_left = n;
    console_request_id(&console, "7", false);
    (void)console_aborted(&console);
    (void)console_is_cancelled(&console, "a", true);
    (void)console_is_cancelled(&console, "7", false);
    for (size_t i = 0;
         i < n && console_read_line(&console, NULL, line, sizeof line, &bytes) != ERR_NO_DEVICE;
         i++) {
        size_t whole = bytes;

        must(bytes < sizeof line);
        must(!console_frames_check(&console.json.frames, line, &bytes) ||
             bytes == whole - (frames ? CONSOLE_CHECK_BYTES : 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n = size < MOST ? size : MOST;
    char *line = malloc(n + 1);

    must(line != NULL);
    options_init(&options);
    memcpy(line, data, n);
    line[n] = '\0';
    check_request(line, n);
    free(line);
    check_cancel(data, n, false);
    check_cancel(data, n, true);
    return 0;
}
