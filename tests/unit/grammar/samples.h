/* Schemas with texts that they allow and refuse. */
#ifndef INGOT_TESTS_UNIT_SAMPLES_H
#define INGOT_TESTS_UNIT_SAMPLES_H

#include "tests/unit/grammar/compiled.h"

enum { TEXTS = 10 };

/* allowed and refused: up to TEXTS, then NULL. */
struct sample {
    const char *schema, *allowed[TEXTS], *refused[TEXTS];
};

static inline bool holds(const struct sample *s)
{
    bool good = compile_schema(s->schema);

    for (unsigned i = 0; good && i < TEXTS && s->allowed[i] != NULL; i++) {
        if (!matches(s->allowed[i])) {
            printf("# refused: %s\n", s->allowed[i]);
            good = false;
        }
    }
    for (unsigned i = 0; good && i < TEXTS && s->refused[i] != NULL; i++) {
        if (matches(s->refused[i])) {
            printf("# allowed: %s\n", s->refused[i]);
            good = false;
        }
    }
    return good;
}

static inline void check_samples(const struct sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        OK(holds(&samples[i]), "the samples of a schema hold: %s", samples[i].schema);
    }
}

#define CHECK(samples) check_samples(samples, sizeof samples / sizeof samples[0])

#endif
