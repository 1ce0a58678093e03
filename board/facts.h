/* Facts about a machine, for the report of the option `diag`, which users can send us. The code
 * that knows a fact reports it under a name, and the code that asked prints it. Reporting changes
 * nothing on the machine. */
#ifndef INGOT_BOARD_FACTS_H
#define INGOT_BOARD_FACTS_H

#include <stdint.h>

enum fact_kind { FACT_HEX, FACT_COUNT, FACT_HZ, FACT_BYTES, FACT_MILLIDEGREES };

struct facts {
    void *context;
    /* name: in lower case, such as "uart clock". name and text stay valid until the call
     * returns. */
    void (*number)(void *context, const char *name, enum fact_kind kind, uint64_t value);
    void (*text)(void *context, const char *name, const char *text);
    /* Report n words of a register or a property, in order. */
    void (*words)(void *context, const char *name, const uint32_t *words, unsigned n);
};

/* Add a driver to the report, even if it failed to open: `diag` calls tell(of, ...). The same
 * arguments are added only once; after FACTS_SOURCES drivers, others are left out. `of` must stay
 * valid. Core 0 only. */
enum { FACTS_SOURCES = 16 };
void facts_add(void (*tell)(const void *of, const struct facts *f), const void *of);
/* Let all added drivers report, in the order in which they were added. */
void facts_tell(const struct facts *f);

static inline void fact_number(const struct facts *f, const char *name, enum fact_kind kind,
                               uint64_t value)
{
    f->number(f->context, name, kind, value);
}

static inline void fact_text(const struct facts *f, const char *name, const char *text)
{
    f->text(f->context, name, text);
}

static inline void fact_words(const struct facts *f, const char *name, const uint32_t *words,
                              unsigned n)
{
    f->words(f->context, name, words, n);
}

#endif
