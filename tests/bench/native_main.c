/* The share of this computer that the quantized matrices use: a gemv's bytes of weights per second
 * against what a core can read, a gemm's multiply-adds per second against what it can multiply, all
 * measured in short turns, of which the 95th percentile counts: many are disturbed by whatever else
 * the computer does, one or two are too good.
 *     native [--threads N] [--row TEXT] [--small-pages]
 * N threads do the same at once, each with memory of its own; TEXT: only rows whose symbols contain
 * it. A line a figure on stdout:
 *     read BYTES_PER_SECOND
 *     peak ISA MULTIPLY_ADDS_PER_SECOND (avx2; avxvnni and vnni where there are)
 *     gemv SYMBOL ROWS COLS BYTES_PER_SECOND PERCENT
 *     gemm SYMBOL ROWS COLS MULTIPLY_ADDS_PER_SECOND PERCENT */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "board/host/host_cpu.h"
#include "kernels/kernels.h"

enum {
    WEIGHTS_BYTES = 256 << 20, /* bytes of each thread, which no cache holds */
    X_BYTES = 1 << 20,
    Y_BYTES = 1 << 20,
    N_TOKENS = 64,
    TURNS = 100,
    COUNTED = 95,          /* index of the chosen turn in ascending order */
    READ_BYTES = 16 << 20, /* bytes of one turn; of the next two, about */
    GEMV_BYTES = 16 << 20,
    GEMM_MACS = 1 << 27,
    PEAK_TURNS = 1 << 17,
    MAX_THREADS = 8,
    MAX_JOBS = 96,
};

void bench_read(const void *from, size_t bytes);
void bench_peak_avx512_vnni(size_t turns);
void bench_peak_avx2_vnni(size_t turns);
void bench_peak_avx2(size_t turns);

typedef void gemv_function(float *y, const void *w, const void *x, size_t rows, size_t cols,
                           size_t ahead);
typedef void gemm_function(float *y, const void *w, const void *x, const struct gemm_shape *shape);

/* Bytes of 8 rows of a block. Sizes are those of smol135, and of tl2 for the K formats. */
struct size {
    size_t rows, cols;
};
enum { MAX_SIZES = 3 };
static const struct format {
    enum kernel_op gemv, gemm;
    size_t block_cols, group_bytes, n_sizes;
    struct size sizes[MAX_SIZES];
} formats[] = {
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) \
    { KERNEL_gemv_f32_##layout##x8_##act, \
      KERNEL_gemm_f32_##layout##x8_##act##x4, \
      cols, \
      sizeof(struct block_##layout##x8), \
      (cols) == BLOCK_COLS ? 3 : 1, \
      { { (cols) == BLOCK_COLS ? 576 : 2048, (cols) == BLOCK_COLS ? 576 : 2048 }, \
        { 1536, 576 }, \
        { 576, 1536 } } },
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"
};

/* One measurement, which each thread makes with its own memory. */
struct job {
    const struct kernel_row *row; /* NULL: `function` instead */
    void (*function)(unsigned thread);
    const struct format *format;
    struct size size;
    double work;         /* work of one turn: bytes or multiply-adds */
    double rates[TURNS]; /* work per second of all threads, sorted at the end */
};
enum { READ, PEAK_AVX2, PEAK_AVX_VNNI, PEAK_VNNI, FIRST_ROW }; /* of state.jobs */

static struct native_state {
    unsigned n_threads;
    bool small_pages;
    const char *only;
    pthread_barrier_t barrier;
    uint8_t *weights[MAX_THREADS];
    size_t at[MAX_THREADS]; /* where the next matrix is in `weights` */
    uint8_t *x[MAX_THREADS];
    float *y[MAX_THREADS];
    struct job jobs[MAX_JOBS];
    size_t n_jobs;
    const struct job *job; /* the measurement at work; NULL: the end */
} state = { .n_threads = 1, .only = "" };

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint8_t *map_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        perror("native: mmap");
        exit(1);
    }
    if (madvise(p, bytes, state.small_pages ? MADV_NOHUGEPAGE : MADV_HUGEPAGE) != 0) {
        fprintf(stderr, "native: pages as the system likes\n");
    }
    memset(p, 0x11, bytes); /* finite and of ordinary size, as fp16 and as f32 */
    return p;
}

static bool is_gemm(const struct job *job)
{
    return job->row->op == job->format->gemm;
}

/* Each measurement continues where the last one stopped, so nothing is in a cache when it is
 * read. */
static const uint8_t *next_weights(unsigned thread, size_t bytes)
{
    size_t at = state.at[thread] + bytes > WEIGHTS_BYTES ? 0 : state.at[thread];

    state.at[thread] = (at + bytes + 63) / 64 * 64;
    return state.weights[thread] + at;
}

static void run_matrices(const struct job *job, unsigned thread)
{
    struct gemm_shape shape = { .rows = job->size.rows,
                                .cols = job->size.cols,
                                .n_tokens = N_TOKENS,
                                .y_stride = job->size.rows };
    size_t ahead = host_cpu_tuning()->ahead;
    size_t weights = shape.rows * shape.cols;
    size_t bytes = weights / 8 / job->format->block_cols * job->format->group_bytes;
    size_t each = is_gemm(job) ? weights * N_TOKENS : bytes;

    for (double done = 0; done < job->work; done += (double)each) {
        const uint8_t *w = next_weights(thread, bytes);

        if (is_gemm(job)) {
            ((gemm_function *)job->row->function)(state.y[thread], w, state.x[thread], &shape);
        } else {
            ((gemv_function *)job->row->function)(state.y[thread], w, state.x[thread], shape.rows,
                                                  shape.cols, ahead);
        }
    }
}

static void run_read(unsigned thread)
{
    bench_read(next_weights(thread, READ_BYTES), READ_BYTES);
}

static void run_peak_avx2(unsigned thread)
{
    (void)thread;
    bench_peak_avx2(PEAK_TURNS);
}

static void run_peak_avx_vnni(unsigned thread)
{
    (void)thread;
    bench_peak_avx2_vnni(PEAK_TURNS);
}

static void run_peak_vnni(unsigned thread)
{
    (void)thread;
    bench_peak_avx512_vnni(PEAK_TURNS);
}

static void run_job(const struct job *job, unsigned thread)
{
    if (job->row != NULL) {
        run_matrices(job, thread);
    } else {
        job->function(thread);
    }
}

static void *helper_main(void *argument)
{
    unsigned thread = (unsigned)(uintptr_t)argument;

    for (;;) {
        pthread_barrier_wait(&state.barrier);
        if (state.job == NULL) {
            return NULL;
        }
        run_job(state.job, thread);
        pthread_barrier_wait(&state.barrier);
    }
}

static void measure(struct job *job, int turn)
{
    double start;

    state.job = job;
    pthread_barrier_wait(&state.barrier);
    start = seconds();
    run_job(job, 0);
    pthread_barrier_wait(&state.barrier);
    job->rates[turn] = job->work * state.n_threads / (seconds() - start);
}

static int compare_rates(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure_all(void)
{
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < state.n_jobs; i++) {
            measure(&state.jobs[i], turn);
        }
    }
    for (size_t i = 0; i < state.n_jobs; i++) {
        qsort(state.jobs[i].rates, TURNS, sizeof state.jobs[i].rates[0], compare_rates);
    }
}

static void add_job(struct job job)
{
    if (state.n_jobs == MAX_JOBS) {
        fprintf(stderr, "native: more than %d jobs, raise MAX_JOBS\n", MAX_JOBS);
        exit(1);
    }
    state.jobs[state.n_jobs++] = job;
}

/* Makes about `work`, and a whole number of times `each`, so that a rate counts everything that is
 * done. */
static double whole(size_t work, size_t each)
{
    return (double)(each > work ? each : work / each * each);
}

static void add_row(const struct kernel_row *row, const struct format *format)
{
    for (size_t i = 0; i < format->n_sizes; i++) {
        struct job job = { .row = row, .format = format, .size = format->sizes[i] };
        size_t weights = job.size.rows * job.size.cols;
        size_t bytes = weights / 8 / format->block_cols * format->group_bytes;

        job.work = is_gemm(&job) ? whole(GEMM_MACS, weights * N_TOKENS) : whole(GEMV_BYTES, bytes);
        add_job(job);
    }
}

static void add_jobs(uint32_t features)
{
    add_job((struct job){ .function = run_read, .work = READ_BYTES });
    add_job((struct job){ .function = run_peak_avx2, .work = 8.0 * 32 * PEAK_TURNS });
    add_job(
        (struct job){ .function = features & CPU_X86_AVX_VNNI ? run_peak_avx_vnni : run_peak_avx2,
                      .work = (features & CPU_X86_AVX_VNNI ? 12.0 * 32 : 8.0 * 32) * PEAK_TURNS });
    add_job((struct job){ .function = features & CPU_X86_VNNI ? run_peak_vnni : run_peak_avx2,
                          .work = (features & CPU_X86_VNNI ? 16.0 * 64 : 8.0 * 32) * PEAK_TURNS });
    for (size_t i = 0; i < kernel_n_rows; i++) {
        const struct kernel_row *row = &kernel_rows[i];
        bool wanted = row->features != CPU_ANY && (row->features & ~features) == 0 &&
                      strstr(row->symbol, state.only) != NULL;

        for (size_t f = 0; wanted && f < sizeof formats / sizeof formats[0]; f++) {
            if (row->op == formats[f].gemv || row->op == formats[f].gemm) {
                add_row(row, &formats[f]);
            }
        }
    }
}

static double counted(size_t job)
{
    return state.jobs[job].rates[COUNTED];
}

/* The parts of this row's products. */
static size_t peak_of(const struct kernel_row *row)
{
    return row->features & CPU_X86_VNNI       ? PEAK_VNNI
           : row->features & CPU_X86_AVX_VNNI ? PEAK_AVX_VNNI
                                              : PEAK_AVX2;
}

static void print_jobs(uint32_t features)
{
    printf("read %.0f\npeak avx2 %.0f\n", counted(READ), counted(PEAK_AVX2));
    if (features & CPU_X86_AVX_VNNI) {
        printf("peak avxvnni %.0f\n", counted(PEAK_AVX_VNNI));
    }
    if (features & CPU_X86_VNNI) {
        printf("peak vnni %.0f\n", counted(PEAK_VNNI));
    }
    for (size_t i = FIRST_ROW; i < state.n_jobs; i++) {
        const struct job *job = &state.jobs[i];
        printf("%s %s %zu %zu %.0f %.1f\n", is_gemm(job) ? "gemm" : "gemv", job->row->symbol,
               job->size.rows, job->size.cols, counted(i),
               100 * counted(i) / counted(is_gemm(job) ? peak_of(job->row) : READ));
    }
}

static void read_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--small-pages") == 0) {
            state.small_pages = true;
        } else if (strcmp(argv[i], "--row") == 0 && i + 1 < argc) {
            state.only = argv[++i];
        } else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
            state.n_threads = (unsigned)strtoul(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: native [--threads N] [--row TEXT] [--small-pages]\n");
            exit(2);
        }
    }
    if (state.n_threads < 1 || state.n_threads > MAX_THREADS) {
        fprintf(stderr, "native: threads: 1 to %d\n", MAX_THREADS);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    pthread_t helpers[MAX_THREADS];
    uint32_t features = host_cpu_features();

    read_arguments(argc, argv);
    if (!(features & CPU_X86_AVX2)) {
        fprintf(stderr, "native: this CPU has no AVX2\n");
        return 1;
    }
    pthread_barrier_init(&state.barrier, NULL, state.n_threads);
    for (unsigned i = 0; i < state.n_threads; i++) {
        state.weights[i] = map_memory(WEIGHTS_BYTES);
        state.x[i] = map_memory(X_BYTES);
        state.y[i] = (float *)(void *)map_memory(Y_BYTES);
        if (i > 0 && pthread_create(&helpers[i], NULL, helper_main, (void *)(uintptr_t)i) != 0) {
            fprintf(stderr, "native: cannot start a thread\n");
            return 1;
        }
    }
    add_jobs(features);
    measure_all();
    print_jobs(features);
    state.job = NULL;
    pthread_barrier_wait(&state.barrier);
    for (unsigned i = 1; i < state.n_threads; i++) {
        pthread_join(helpers[i], NULL);
    }
    return 0;
}
