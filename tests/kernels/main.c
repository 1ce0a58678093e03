/* The kernel tester as a Linux program: options, fences, TAP on stdout.
 *     kernels_test [--seed N] [--features all|NAME] [--row TEXT] [--rows all|kernels]
 * NAME as isa= takes it; TEXT: only rows whose symbols contain it; kernels: without references.
 * With either the broken kernels are left out. */
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#if defined(__aarch64__)
#include <sys/prctl.h>
#endif
#include <time.h>
#include <unistd.h>

#include "kernels/selftest/tester.h"
#include "tests/alarm.h"
#include "tests/kernels/broken.h"

/* Puts it into pages of its own, so that the fences can be protected. */
static _Alignas(TESTER_PAGE) uint8_t work_space[TESTER_WORK_BYTES];

static void print_bytes(unsigned long bytes)
{
    printf("# vectors of %lu bits\n", 8 * bytes);
}

/* Returns the feature of the lowest set bit of `bits`. */
static uint32_t feature(uint64_t bits, uint32_t mask)
{
    return mask * (uint32_t)(bits & 1);
}

#if defined(__aarch64__)
static void print_vector_length(uint32_t features)
{
    int length = prctl(51 /* PR_SVE_GET_VL */);

    if (features & CPU_ARM64_SVE && length > 0) {
        print_bytes((unsigned long)length & 0xffff);
    }
}

/* Bits of AT_HWCAP and AT_HWCAP2, Linux's Documentation/arch/arm64/elf_hwcaps.rst. */
static uint32_t cpu_features(void)
{
    unsigned long first = getauxval(AT_HWCAP);
    unsigned long second = getauxval(AT_HWCAP2);

    return CPU_ARM64_NEON | /* every ARMv8-A Linux has it */
           feature(first >> 6, CPU_ARM64_SHA2) | feature(first >> 7, CPU_ARM64_CRC) |
           feature(first >> 20, CPU_ARM64_DOTPROD) | feature(first >> 22, CPU_ARM64_SVE) |
           feature(second >> 13, CPU_ARM64_I8MM);
}
#elif defined(__riscv)
static void print_vector_length(uint32_t features)
{
    unsigned long bytes;

    if (features & CPU_RV64_V) {
        __asm__("csrr %0, 0xc22" : "=r"(bytes)); /* vlenb */
        print_bytes(bytes);
    }
}

/* riscv_hwprobe, Linux's Documentation/arch/riscv/hwprobe.rst; AT_HWCAP knows single letters. */
static uint32_t cpu_features(void)
{
    enum { SYS_HWPROBE = 258, KEY_IMA_EXT_0 = 4 };
    struct {
        int64_t key;
        uint64_t value;
    } probe = { .key = KEY_IMA_EXT_0 };
    uint32_t features = CPU_RV64_GC | feature(getauxval(AT_HWCAP) >> ('v' - 'a'), CPU_RV64_V);

    if (syscall(SYS_HWPROBE, &probe, 1, 0, NULL, 0) != 0 || probe.key != KEY_IMA_EXT_0) {
        return features;
    }
    features |= feature(probe.value >> 7, CPU_RV64_ZBC) | feature(probe.value >> 4, CPU_RV64_ZBB);
    if (features & CPU_RV64_V) {
        features |= feature(probe.value >> 30 | probe.value >> 31,
                            CPU_RV64_ZVFH); /* Zvfh, Zvfhmin */
        features |= feature(probe.value >> 22 | probe.value >> 23,
                            CPU_RV64_ZVKNHA); /* Zvknhb, too */
    }
    return features;
}
#elif defined(__x86_64__)
static void print_vector_length(uint32_t features)
{
    if (features & CPU_X86_AVX2) {
        print_bytes(features & CPU_X86_AVX512 ? 64 : 32);
    }
}

/* CPUID.(EAX=7, ECX=1):EAX bit 4; a CPU without this subleaf answers 0. */
static uint32_t avx_vnni(void)
{
    unsigned a = 0, b, c, d;

    (void)__get_cpuid_count(7, 1, &a, &b, &c, &d);
    return feature(a >> 4, CPU_X86_AVX_VNNI);
}

/* These also ask the operating system. */
static uint32_t cpu_features(void)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("f16c")) {
        return CPU_ANY;
    }
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
        return CPU_X86_AVX2 | avx_vnni();
    }
    return CPU_X86_AVX2 | avx_vnni() | CPU_X86_AVX512 |
           feature(__builtin_cpu_supports("avx512vnni") != 0, CPU_X86_VNNI);
}
#endif

static void print_fault(void *context, const char *line)
{
    (void)context;
    printf("# %s\n", line);
}

/* Prints a TAP line; true when the row equals its reference or needs more than this CPU has. */
static bool test_row(const struct kernel_row *row, uint32_t features, uint64_t seed, int number)
{
    struct tester t;
    char names[KERNELS_TEXT_BYTES];

    if (row->features & ~features) {
        printf("ok %d - %s # SKIP needs %s\n", number, row->symbol,
               kernels_features_text(names, row->features));
        return true;
    }
    tester_run_row(&t, row, features, seed, print_fault, NULL);
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

/* Then the row's TAP line is missing, so prove fails too. */
static void on_fault(int number)
{
    static const char text[] = "# trap: the next row's kernel touched memory beyond a buffer\n"
                               "Bail out! kernel trapped\n";

    (void)number;
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

/* They have their own stack: the kernel's may be what is broken. */
static void catch_traps(void)
{
    static uint8_t memory[1 << 16];
    stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };
    struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };

    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGILL, &action, NULL);
}

static int usage(void)
{
    fputs("usage: kernels_test [--seed N] [--features all|NAME] [--row TEXT] "
          "[--rows all|kernels|broken]\n",
          stderr);
    return 2;
}

struct arguments {
    uint32_t features;
    const char *wanted; /* of the features; "all" */
    uint64_t seed;
    const char *row;   /* NULL: all */
    bool kernels_only; /* no references */
    bool broken_only;  /* the option means rows only, without those that must be caught */
};

static bool read_arguments(struct arguments *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) {
            return false;
        }
        if (strcmp(argv[i], "--seed") == 0) {
            a->seed = strtoull(argv[i + 1], NULL, 0);
        } else if (strcmp(argv[i], "--row") == 0) {
            a->row = argv[i + 1];
        } else if (strcmp(argv[i], "--rows") == 0) {
            a->kernels_only = strcmp(argv[i + 1], "kernels") == 0;
            a->broken_only = strcmp(argv[i + 1], "broken") == 0;
        } else if (strcmp(argv[i], "--features") == 0) {
            a->wanted = argv[i + 1];
        } else {
            return false;
        }
    }
    return true;
}

static bool is_wanted(const struct arguments *a, const struct kernel_row *row)
{
    return !a->broken_only && (a->row == NULL || strstr(row->symbol, a->row) != NULL) &&
           !(a->kernels_only && row->features == CPU_ANY);
}

int main(int argc, char **argv)
{
    struct arguments arguments = { .features = cpu_features(),
                                   .wanted = "all",
                                   .seed = (uint64_t)time(NULL) };
    char names[KERNELS_TEXT_BYTES];
    int number = 0;
    int failed = 0;

    if (!read_arguments(&arguments, argc, argv)) {
        return usage();
    }
    if (strcmp(arguments.wanted, "all") != 0 &&
        !kernels_force(arguments.features, arguments.wanted, &arguments.features)) {
        printf("1..0 # SKIP no %s here\n", arguments.wanted);
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* a trap ends the process without a flush */
    printf("# seed %llu, features %s\n", (unsigned long long)arguments.seed,
           kernels_features_text(names, arguments.features));
    print_vector_length(arguments.features);
    catch_traps();
    tester_open(work_space);
    tester_visit_fences(protect);
    if (arguments.row == NULL && !arguments.kernels_only) {
        failed += broken_test(arguments.seed, arguments.features, &number);
    }
    for (size_t i = 0; i < kernel_n_rows; i++) {
        if (is_wanted(&arguments, &kernel_rows[i])) {
            failed += !test_row(&kernel_rows[i], arguments.features, arguments.seed, ++number);
        }
    }
    tester_visit_fences(unprotect); /* the leak checker reads all of memory */
    printf("1..%d\n", number);
    return failed != 0;
}
