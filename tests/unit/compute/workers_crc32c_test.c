/* The checksum by all cores equals that of core 0, for any length, number of cores and place. */
#include "runtime/compute/workers_crc32c.h"

#include <stdlib.h>
#include <string.h>

#include "board/host/host_cpu.h"
#include "board/host/host_platform.h"
#include "tests/unit/tap.h"

enum { MOST_PIECES = 33, MOST = MOST_PIECES * CRC32C_STRIPE + 100, JOINED = 5 };

static struct workers crews[BOARD_MAX_CORES]; /* workers live on after the test */
static uint8_t bytes[MOST];

static uint32_t any(void)
{
    static uint32_t random;

    random = random * 1664525u + 1013904223u;
    return random >> 8;
}

static void test_join(void)
{
    bool equal = true;

    for (size_t n = 0; n <= JOINED; n++) {
        for (size_t before = 0; before < 70; before += 7) {
            size_t behind = n * CRC32C_STRIPE;
            uint32_t first = crc32c(any(), bytes, before);
            uint32_t second = crc32c(0, bytes + before, behind);

            equal = equal &&
                    (crc32c_shift(first, n) ^ second) == crc32c(first, bytes + before, behind);
        }
    }
    OK(equal, "the CRCs of a first part and of up to %d pieces are joined", JOINED);
}

/* Copies exactly so many bytes, so that a read beyond them is seen. */
static bool is_serial(struct workers *workers, size_t start, size_t n)
{
    uint8_t *b = malloc(start + n);
    uint32_t crc = any(), wanted = crc32c(crc, memcpy(b + start, bytes, n), n);
    bool equal = workers_crc32c(workers, crc, b + start, n) == wanted;

    free(b);
    if (!equal) {
        printf("# %u cores, start %zu, %zu bytes\n", workers->n_cores, start, n);
    }
    return equal;
}

static void test_lengths(struct workers *workers)
{
    bool equal = is_serial(workers, 0, 0) && is_serial(workers, 0, 1);

    for (size_t pieces = 1; pieces <= MOST_PIECES; pieces++) {
        static const int around[] = { -512, -1, 0, 1, 8, 99 };

        for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
            equal = is_serial(workers, any() % 9, pieces * CRC32C_STRIPE + (size_t)around[i]) &&
                    equal;
        }
    }
    OK(equal, "%u cores: the CRC is right for up to %d pieces, and some bytes more or less",
       workers->n_cores, MOST_PIECES);
}

/* For 2 to 33 pieces: each first and last byte, and the rest. */
static void test_flips(struct workers *workers)
{
    bool found = true;

    for (size_t n = WORKERS_CRC32C_LEAST; n < MOST; n += 5 * CRC32C_STRIPE + 13) {
        uint32_t whole = workers_crc32c(workers, 0, bytes, n);

        for (unsigned core = 0; core < workers->n_cores; core++) {
            size_t first, last;

            workers_share(workers, core, n, CRC32C_STRIPE, &first, &last);
            for (int end = 0; end < 2 && last > first; end++) {
                uint8_t *byte = &bytes[end ? last - 1 : first];

                *byte ^= 0x10;
                found = found && workers_crc32c(workers, 0, bytes, n) != whole;
                *byte ^= 0x10;
            }
        }
        found = found && workers_crc32c(workers, 0, bytes, n) == whole;
    }
    OK(found, "%u cores: a flipped bit in each core's part is found", workers->n_cores);
}

static void test_jobs(struct workers *workers)
{
    uint32_t jobs = workers->job;

    (void)workers_crc32c(workers, 0, bytes, WORKERS_CRC32C_LEAST - 1);
    OK(workers->job == jobs, "%u cores: core 0 takes a few bytes without a job", workers->n_cores);
    (void)workers_crc32c(workers, 0, bytes, WORKERS_CRC32C_LEAST);
    OK(workers->job == jobs + (workers->n_cores > 1),
       "%u cores: the workers take more bytes as one job", workers->n_cores);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

int main(void)
{
    static struct kernels k;
    static struct platform platform;

    host_platform(&platform, NULL);
    platform.cores.spin_micros = 0; /* more cores than processors: sleep at once */
    kernels_select(&k, host_cpu_features());
    crc32c_use(&k);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)any();
    }
    test_join();
    for (unsigned n = 1; n <= BOARD_MAX_CORES; n++) {
        workers_start(&crews[n - 1], &platform, n);
        OK(crews[n - 1].n_cores == n, "%u cores are at work", n);
        test_lengths(&crews[n - 1]);
        test_flips(&crews[n - 1]);
        test_jobs(&crews[n - 1]);
    }
    workers_lend(&crews[3], do_nothing, do_nothing, NULL);
    OK(crews[3].n_cores == 3, "one of four cores is away");
    test_lengths(&crews[3]);
    test_flips(&crews[3]);
    workers_take_back(&crews[3]);
    test_lengths(&crews[3]);
    return tap_done();
}
