#include "runtime/compute/selftest.h"

#include <stdarg.h>

#include "kernels/selftest/tester.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

enum { LINE_BYTES = 256 };

struct selftest {
    const struct selftest_report *report;
    struct kernels *kernels;
    uint64_t seed;
    unsigned n, failed;
    bool trusted;
    bool stopped;
};

/* Return the start of TESTER_WORK_BYTES within work, or NULL. */
static uint8_t *place_work_space(struct memory_range work)
{
    size_t skip = (size_t)(-(uintptr_t)work.base % TESTER_PAGE);

    if (work.bytes < skip || work.bytes - skip < TESTER_WORK_BYTES) {
        return NULL;
    }
    return work.base + skip;
}

__attribute__((format(printf, 2, 3))) static void say(struct selftest *s, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;

    va_start(args, format);
    (void)format_text_args(line, sizeof line, format, args);
    va_end(args);
    if (!s->report->say(s->report->context, line)) {
        s->stopped = true;
    }
}

static void check(struct selftest *s, const struct kernel_row *row, uint32_t features)
{
    struct tester t;
    char faults[160];

    s->n++;
    tester_run_row(&t, row, features, s->seed, s->report->fault, s->report->context);
    if (t.faults == 0) {
        say(s, "selftest: %s ok, %u %s", row->symbol, (unsigned)t.n_cases,
            plural((unsigned)t.n_cases, "case", "cases"));
        return;
    }
    tester_faults_text(t.faults, faults, sizeof faults);
    say(s, "selftest: %s FAILED, %u %s: %s", row->symbol, (unsigned)t.n_cases,
        plural((unsigned)t.n_cases, "case", "cases"), faults);
    s->failed++;
    if (row->features == CPU_ANY) {
        s->trusted = false;
    }
    kernels_use_reference(s->kernels, row->op);
}

static void conclude(struct selftest *s)
{
    const char *cure = s->trusted ? ": their references are used instead, slower but correct" : "";

    if (s->stopped) {
        say(s, "selftest: stopped after %u %s, of which %u FAILED", s->n,
            plural(s->n, "kernel", "kernels"), s->failed);
    } else if (s->failed == 0) {
        say(s, "selftest: all %u %s equal their references", s->n,
            plural(s->n, "kernel", "kernels"));
    } else {
        say(s, "selftest: %u of %u %s FAILED%s", s->failed, s->n, plural(s->n, "kernel", "kernels"),
            cure);
    }
}

bool selftest_run(struct kernels *k, uint32_t features, uint64_t seed, struct memory_range work,
                  const struct selftest_report *report)
{
    struct selftest s = { .report = report, .kernels = k, .seed = seed, .trusted = true };
    uint8_t *space = place_work_space(work);

    if (space == NULL) {
        say(&s, "selftest: %u KiB of free RAM are needed", TESTER_WORK_BYTES / 1024 + 4);
        return false;
    }
    say(&s, "selftest: seed=%llu", (unsigned long long)seed);
    tester_open(space);
    for (size_t i = 0; i < kernel_n_rows && !s.stopped; i++) {
        if ((kernel_rows[i].features & ~features) == 0) {
            check(&s, &kernel_rows[i], features);
        }
    }
    conclude(&s);
    return s.trusted;
}
