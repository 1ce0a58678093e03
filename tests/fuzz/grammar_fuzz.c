/* Compiled grammars, GBNF, JSON Schema and choices; the first byte says which. The boards' reader must take every
 * compiled grammar, and whatever it takes runs within its bounds. Nothing takes long, not even 32 KiB. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flash_image/grammar/grammar_compile.h"
#include "runtime/base/crc32c.h"
#include "runtime/features/grammar/grammar_machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 15, GBNF = 0, SCHEMA, CHOICES, COMPILED, KINDS };

static struct grammar_machine machine;
static uint32_t memory[MOST / 4], work[GRAMMAR_WORK_BYTES / 4];
static char text[MOST];

/* Tries bytes of the input itself, which often begin what is allowed, and then all others. */
static void run(const struct grammar *g, const uint8_t *data, size_t size)
{
    unsigned level = 0;

    grammar_begin(&machine, g);
    for (size_t i = 0; i < size && i < 200; i++) {
        bool pushed = grammar_push(&machine, level, data[i]);

        for (unsigned byte = 0; !pushed && byte < 256; byte += 5) {
            pushed = grammar_push(&machine, level, (uint8_t)(byte + i));
        }
        if (!pushed) {
            break;
        }
        if (++level == GRAMMAR_LEVELS || data[i] % 4 == 0) {
            grammar_settle(&machine, level);
            level = 0;
        }
    }
    (void)grammar_accepts(&machine, level);
    (void)grammar_goes_on(&machine, level);
}

static void compile(const char *gbnf, const uint8_t *data, size_t size)
{
    char error_message[GRAMMAR_ERROR_MESSAGE_BYTES];
    const char *why;
    struct grammar g;
    void *grammar;
    size_t bytes;

    if (grammar_compile_gbnf(gbnf, &grammar, &bytes, error_message) == ERR_OK) {
        if (grammar_open(&g, grammar, bytes, &why) != ERR_OK) {
            abort();
        }
        run(&g, data, size);
        free(grammar);
    } else if (error_message[0] == '\0') {
        abort();
    }
}

static void compile_schema(const uint8_t *data, size_t size)
{
    char error_message[GRAMMAR_ERROR_MESSAGE_BYTES], *gbnf;

    if (grammar_gbnf_of_schema(text, &gbnf, error_message) == ERR_OK) {
        compile(gbnf, data, size);
        free(gbnf);
    } else if (error_message[0] == '\0') {
        abort();
    }
}

/* Seconds of CPU time, under ASan; GRAMMAR_STEPS_MOST takes half of one. */
enum { SECONDS_MOST = 1 };

static void take(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clock_t begin = clock();

    take(data, size);
    if (clock() - begin > (clock_t)SECONDS_MOST * CLOCKS_PER_SEC) {
        fprintf(stderr, "it took %.1f s\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
        abort();
    }
    return 0;
}

static void take(const uint8_t *data, size_t size)
{
    struct ingot_grammar *head = (void *)memory;
    const char *why;
    struct grammar g;
    size_t bytes = size;
    unsigned kind;

    if (size < 2 || size >= MOST) {
        return;
    }
    kind = data[0] % KINDS;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (kind == GBNF) {
        compile(text, data + 1, size - 1);
    } else if (kind == SCHEMA) {
        compile_schema(data + 1, size - 1);
    } else if (kind == CHOICES) {
        if (grammar_from_choices(text, memory, sizeof memory, work, &bytes, &why) == ERR_OK) {
            if (grammar_open(&g, memory, bytes, &why) != ERR_OK) {
                abort();
            }
            run(&g, data + 1, size - 1);
        }
    } else {
        memcpy(memory, data + 1, size - 1);
        if (size - 1 > sizeof *head) {
            head->magic = INGOT_GRAMMAR_MAGIC;
            head->version = INGOT_GRAMMAR_VERSION;
            head->crc32c = crc32c(0, &head->version, size - 1 - 8);
        }
        if (grammar_open(&g, memory, size - 1, &why) == ERR_OK) {
            run(&g, data + 1, size - 1);
        }
    }
}
