/* Idle time from a text like /proc/stat, and of this computer. */
#include "board/host/host_idle.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/tap.h"

static const char text[] = "cpu  900 0 90 10000 20 0 0 0 0 0\n"
                           "cpu0 300 0 30 4000 5 0 0 0 0 0\n"
                           "cpu1 300 0 30 100 7 0 0 0 0 0\n"
                           "cpu10 300 0 30 50 8 0 0 0 0 0\n"
                           "intr 12345 0 9\n";

/* Reads the ticks of `from`, a zero-ended list of processors. */
static bool read_ticks(const char *from, const unsigned *processors, uint64_t *ticks)
{
    cpu_set_t set;
    FILE *stat = fmemopen((void *)(uintptr_t)from, strlen(from), "r");
    bool read;

    CPU_ZERO(&set);
    for (size_t i = 0; processors[i] != 0; i++) {
        CPU_SET(processors[i] - 1, &set);
    }
    read = stat != NULL && host_idle_ticks(stat, &set, ticks);
    if (stat != NULL) {
        fclose(stat);
    }
    return read;
}

static void test_text(void)
{
    uint64_t ticks = 0;

    OK(read_ticks(text, (unsigned[]){ 1, 2, 11, 0 }, &ticks) && ticks == 4170,
       "idle and waiting ticks of each processor are added: %u", (unsigned)ticks);
    OK(read_ticks(text, (unsigned[]){ 2, 0 }, &ticks) && ticks == 107,
       "only ticks of this process's processors are counted: %u", (unsigned)ticks);
    OK(!read_ticks(text, (unsigned[]){ 1, 3, 0 }, &ticks),
       "the idle time of an unlisted processor is not known");
    OK(!read_ticks("cpu0 300 0 x\n", (unsigned[]){ 1, 0 }, &ticks),
       "the idle time is not known without numbers");
    OK(!read_ticks("intr 1\ncpu0 1 2 3 4 5\n", (unsigned[]){ 1, 0 }, &ticks),
       "the idle time is not known from another file");
}

static void test_computer(void)
{
    struct timespec nap = { .tv_nsec = 50000000 };
    int idle, most = 1000 * (int)sysconf(_SC_NPROCESSORS_ONLN);

    OK(host_idle_processors() == -1, "nothing is known at the first look");
    nanosleep(&nap, NULL);
    idle = host_idle_processors();
    OK(idle >= 0 && idle <= most + most / 2,
       "%d thousandths of a processor are idle at the second look", idle);
}

int main(void)
{
    test_text();
    test_computer();
    return tap_done();
}
