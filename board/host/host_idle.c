#include "board/host/host_idle.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 256 };

static struct idle_state {
    uint64_t ticks; /* idle ticks at the last call */
    double seconds;
    bool known;
} state;

/* "cpu3 user nice system idle iowait ..." */
static bool read_line(const char *line, unsigned *processor, uint64_t *ticks)
{
    uint64_t idle, waits;

    if (sscanf(line, "cpu%u %*u %*u %*u %" SCNu64 " %" SCNu64, processor, &idle, &waits) != 3) {
        return false;
    }
    *ticks = idle + waits;
    return true;
}

bool host_idle_ticks(FILE *stat, const cpu_set_t *set, uint64_t *ticks)
{
    char line[LINE_BYTES];
    int missing = CPU_COUNT(set);

    *ticks = 0;
    while (missing > 0 && fgets(line, sizeof line, stat) != NULL && strncmp(line, "cpu", 3) == 0) {
        unsigned processor;
        uint64_t more;

        if (read_line(line, &processor, &more) && processor < CPU_SETSIZE &&
            CPU_ISSET(processor, set)) {
            *ticks += more;
            missing--;
        }
    }
    return missing == 0;
}

static bool read_ticks(uint64_t *ticks)
{
    cpu_set_t set;
    FILE *stat = fopen("/proc/stat", "re");
    bool read;

    if (stat == NULL) {
        return false;
    }
    read = sched_getaffinity(0, sizeof set, &set) == 0 && host_idle_ticks(stat, &set, ticks);
    fclose(stat);
    return read;
}

int host_idle_processors(void)
{
    struct idle_state before = state;
    struct timespec now;
    uint64_t idle;

    clock_gettime(CLOCK_MONOTONIC, &now);
    state.seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    state.known = read_ticks(&state.ticks);
    if (!before.known || !state.known || state.seconds <= before.seconds) {
        return -1;
    }
    idle = state.ticks > before.ticks ? state.ticks - before.ticks
                                      : 0; /* the system's count may decrease (proc(5)) */
    return (int)(1000.0 * (double)idle /
                 ((state.seconds - before.seconds) * (double)sysconf(_SC_CLK_TCK)));
}
