/* The kernel tester as a Linux program: options, fences, TAP on stdout.
 *     kernels_test [--seed N] [--features all|ref|neon|rv64gc|rvv|avx2] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kernels/selftest/tester.h"
#include "tests/kernels/broken.h"

/* In pages of its own, so that the fences can be protected. */
static _Alignas(TESTER_PAGE) uint8_t work_space[TESTER_WORK_BYTES];

#if defined(__aarch64__)
static uint32_t cpu_features(void)
{
    return CPU_ARM64_NEON; /* every ARMv8-A Linux has it */
}
#elif defined(__riscv)
static uint32_t cpu_features(void)
{
    uint32_t vector = getauxval(AT_HWCAP) & 1ul << ('v' - 'a') ? CPU_RV64_V : 0;

    return CPU_RV64_GC | vector;
}
#elif defined(__x86_64__)
static uint32_t cpu_features(void)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c")) {
        return CPU_X86_AVX2;
    }
    return CPU_ANY;
}
#endif

static void print_fault(const char *line)
{
    printf("# %s\n", line);
}

/* One TAP line; true when the row is equal to its reference or needs more than this CPU has. */
static bool test_row(const struct kernel_row *row, uint32_t features, uint64_t seed, int number)
{
    struct tester t;

    if (row->features & ~features) {
        printf("ok %d - %s # SKIP needs %s\n", number, row->symbol,
               kernels_features_text(row->features));
        return true;
    }
    tester_run_row(&t, row, features, seed, print_fault);
    printf("%sok %d - %s, cases %u, digest %llx\n", t.faults == 0 ? "" : "not ", number,
           row->symbol, (unsigned)t.n_cases, (unsigned long long)t.digest);
    return t.faults == 0;
}

static void protect(void *page, size_t bytes)
{
    if (mprotect(page, bytes, PROT_NONE) != 0) {
        puts("Bail out! cannot protect the fences");
        exit(1);
    }
}

static void unprotect(void *page, size_t bytes)
{
    (void)mprotect(page, bytes, PROT_READ | PROT_WRITE);
}

/* The TAP line of the row is missing then, so prove fails too. */
static void on_fault(int number)
{
    static const char text[] = "# trap: the next row's kernel touched memory beyond a buffer\n"
                               "Bail out! kernel trapped\n";

    (void)number;
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

static int usage(void)
{
    fputs("usage: kernels_test [--seed N] [--features all|ref|neon|rv64gc|rvv|avx2]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    uint32_t features = cpu_features();
    uint64_t seed = (uint64_t)time(NULL);
    int number = 0;
    int failed = 0;

    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) {
            return usage();
        }
        if (strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[i + 1], NULL, 0);
        } else if (strcmp(argv[i], "--features") != 0) {
            return usage();
        } else if (strcmp(argv[i + 1], "all") != 0 &&
                   !kernels_force(features, argv[i + 1], &features)) {
            return usage();
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* a trap ends us without a flush */
    printf("# seed %llu, features %s\n", (unsigned long long)seed,
           kernels_features_text(features));
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    signal(SIGILL, on_fault);
    tester_open(work_space);
    tester_visit_fences(protect);
    failed += broken_test(seed, &number);
    for (size_t i = 0; i < kernel_n_rows; i++) {
        failed += !test_row(&kernel_rows[i], features, seed, ++number);
    }
    tester_visit_fences(unprotect); /* the leak checker reads all of memory */
    printf("1..%d\n", number);
    return failed != 0;
}
