/* Runs a fuzz target without a fuzzing engine: first every file of the corpus unchanged, then
 * random mutations of them until the time is up. The target is libFuzzer's, so that clang's engine
 * can be linked instead (make fuzz-libfuzzer). usage: TARGET [--seconds S] [--seed N] FILE... */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/alarm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_FILES = 256, MOST_BYTES = 1 << 20, MOST_RUNS = 50 * 1000 * 1000 };

static struct corpus {
    uint8_t *data[MOST_FILES];
    size_t bytes[MOST_FILES];
    size_t n;
} corpus;

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void add_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    uint8_t *data = malloc(MOST_BYTES);

    if (f == NULL || data == NULL || corpus.n == MOST_FILES) {
        printf("# skipped corpus file %s\n", name);
        free(data);
    } else {
        corpus.data[corpus.n] = data;
        corpus.bytes[corpus.n++] = fread(data, 1, MOST_BYTES, f);
    }
    if (f != NULL) {
        fclose(f);
    }
}

static size_t mutate_once(uint8_t *data, size_t bytes)
{
    static const uint64_t magic[] = { 0,
                                      1,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0xffff,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0xffffffffffffffff };
    size_t at = bytes != 0 ? next_random() % bytes : 0;
    uint64_t value = magic[next_random() % (sizeof magic / sizeof magic[0])];
    size_t width = (size_t)1 << next_random() % 4;

    switch (bytes != 0 ? next_random() % 6 : 4) {
    case 0: data[at] ^= (uint8_t)(1u << next_random() % 8); break;
    case 1: data[at] = (uint8_t)next_random(); break;
    case 2: memcpy(data + at, &value, bytes - at < width ? bytes - at : width); break;
    case 3: return at; /* cut short */
    case 4:
        if (bytes < MOST_BYTES) { /* one byte more */
            memmove(data + at + 1, data + at, bytes - at);
            data[at] = (uint8_t)next_random();
            return bytes + 1;
        }
        break;
    default: { /* copy a piece elsewhere */
        size_t from = next_random() % bytes;
        size_t most = bytes - (from > at ? from : at);

        memmove(data + at, data + from, next_random() % (most + 1));
        break;
    }
    }
    return bytes;
}

/* A copy on the heap of exactly its size, so that ASan sees a read beyond it. */
static void run_one(const uint8_t *data, size_t bytes)
{
    uint8_t *copy = malloc(bytes != 0 ? bytes : 1);

    if (copy == NULL) {
        return;
    }
    memcpy(copy, data, bytes);
    (void)LLVMFuzzerTestOneInput(copy, bytes);
    free(copy);
}

static uint64_t run_random(double seconds)
{
    static uint8_t work[MOST_BYTES + 1];
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    uint64_t runs = 0;

    while (clock() < end && runs < MOST_RUNS) {
        size_t which = corpus.n != 0 ? next_random() % corpus.n : 0;
        size_t bytes = corpus.n != 0 ? corpus.bytes[which] : next_random() % 4096;

        if (corpus.n != 0) {
            memcpy(work, corpus.data[which], bytes);
        }
        for (uint64_t n = 1 + next_random() % 8; n != 0; n--) {
            bytes = mutate_once(work, bytes);
        }
        run_one(work, bytes);
        runs++;
    }
    return runs;
}

int main(int argc, char **argv)
{
    double seconds = 5.0;
    uint64_t runs;

    random_state = (uint64_t)time(NULL) * 0x9e3779b97f4a7c15u | 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
            seconds = atof(argv[++i]);
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            random_state = strtoull(argv[++i], NULL, 0) | 1;
        } else {
            add_file(argv[i]);
        }
    }
    printf("# seed %" PRIu64 ", %zu files\n", random_state, corpus.n);
    fflush(stdout);
    for (size_t i = 0; i < corpus.n; i++) {
        run_one(corpus.data[i], corpus.bytes[i]);
    }
    runs = run_random(seconds);
    for (size_t i = 0; i < corpus.n; i++) {
        free(corpus.data[i]);
    }
    printf("%s 1 - %s: %" PRIu64 " mutated inputs without a fault\n1..1\n",
           runs != 0 ? "ok" : "not ok", argv[0], runs);
    return runs == 0;
}
