/* The test of the tester: each of these kernels is wrong in one way, and must be caught for
 * that way. */
#include "tests/kernels/broken.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/selftest/tester.h"
#include "tests/kernels/broken_kernels.h"

static const struct broken_row {
    const char *name;
    enum kernel_op op;
    void (*function)(void);
    void (*reference)(void);
    uint32_t fault;
    uint32_t features;
} broken_rows[] = {
#define BROKEN_ROW(function, op, fault, features) \
    { #function, KERNEL_##op, (void (*)(void))(function), (void (*)(void))(op##_ref), \
      fault,     features },
    BROKEN_KERNELS(BROKEN_ROW) BROKEN_OF_ISA(BROKEN_ROW)
#undef BROKEN_ROW
};

/* Only the intended fault may be seen, except that the assembly rows compute nothing. */
static bool is_caught(const struct broken_row *row, uint32_t faults)
{
    uint32_t of_data = TESTER_VALUE | TESTER_GUARD_HIT | TESTER_INPUT;

    return row->fault & of_data ? faults == row->fault : (faults & ~of_data) == row->fault;
}

/* Prints a TAP line; true if the fault was caught. */
static bool test_broken_row(const struct broken_row *row, uint64_t seed, uint32_t features,
                            int number)
{
    struct tester t = { .function = row->function,
                        .reference = row->reference,
                        .symbol = row->name,
                        .random = seed,
                        .features = features,
                        .ignored = row->fault == TESTER_PLATFORM ? 0 : TESTER_PLATFORM };
    char names[KERNELS_TEXT_BYTES];
    char faults[160];
    bool good;

    if (row->features & ~features) {
        printf("ok %d - %s # SKIP needs %s\n", number, row->name,
               kernels_features_text(names, row->features));
        return true;
    }
    tester_run_op(&t, row->op);
    good = is_caught(row, t.faults);
    tester_faults_text(t.faults, faults, sizeof faults);
    printf("%sok %d - the tester catches %s: %s\n", good ? "" : "not ", number, row->name, faults);
    return good;
}

enum { TRAPPED = 3 };

static void leave(int number)
{
    (void)number;
    _exit(TRAPPED);
}

/* A read beyond an input ends the process, so another process does it. */
static bool fence_traps(void)
{
    struct sigaction action = { .sa_handler = leave, .sa_flags = SA_ONSTACK };
    struct tester t = { .function = (void (*)(void))max_reads_past_end,
                        .reference = (void (*)(void))max_f32_ref };
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
        tester_run_op(&t, KERNEL_max_f32);
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == TRAPPED;
}

int broken_test(uint64_t seed, uint32_t features, int *tap_number)
{
    int missed = 0;
    bool traps;

    for (size_t i = 0; i < sizeof broken_rows / sizeof broken_rows[0]; i++) {
        missed += !test_broken_row(&broken_rows[i], seed + i, features, ++*tap_number);
    }
    traps = fence_traps();
    printf("%sok %d - the tester catches max_reads_past_end: a trap at the fence\n",
           traps ? "" : "not ", ++*tap_number);
    return missed + !traps;
}
