#include "board/host/host_memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "board/min_max.h"

#define OTHERS \
    ((uint64_t)64 << 20) /* address space for the rest of the program: buffers, tables, libraries */
#define OTHERS_USED ((uint64_t)24 << 20) /* the part of these 64 MiB that is ever written */
#define USUAL_STACK ((uint64_t)8 << 20)  /* stack of a thread if stacks have no limit */
#define LEAST ((uint64_t)1 << 20)        /* bytes; a smaller arena holds no model */

enum { GROUP_BYTES = 4352 }; /* the longest line about a group; a path may have 4096 bytes */

static const char *root_of(const struct host_memory *m)
{
    return m->root != NULL ? m->root : "";
}

static void limit_to(struct host_memory *m, uint64_t *bytes, uint64_t limit, const char *name)
{
    if (limit < *bytes) {
        *bytes = limit;
        m->limit = name;
    }
}

/* ---- limits of a process --------------------------------------------------------------------- */

/* Return the bytes of a column of /proc/self/statm: 0 address space, 5 data and stack. */
static uint64_t used_bytes(unsigned column)
{
    FILE *in = fopen("/proc/self/statm", "re");
    unsigned long long pages[7] = { 0 };
    int n = 0;

    if (in != NULL) {
        n = fscanf(in, "%llu %llu %llu %llu %llu %llu %llu", &pages[0], &pages[1], &pages[2],
                   &pages[3], &pages[4], &pages[5], &pages[6]);
        fclose(in);
    }
    return n == 7 ? pages[column] * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static uint64_t stack_bytes(void)
{
    struct rlimit stack;

    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY) {
        return USUAL_STACK;
    }
    return stack.rlim_cur;
}

/* Lower *bytes to the limit, less the memory in use and the memory that the program will need. */
static void obey_limit(struct host_memory *m, uint64_t *bytes, int which, const char *name,
                       uint64_t used, uint64_t later)
{
    struct rlimit limit;
    uint64_t left;

    if (getrlimit((__rlimit_resource_t)which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return;
    }
    left = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
    limit_to(m, bytes, left - min_u64(later, left / 2), name);
}

/* ---- limits of a group of processes (cgroups 1 and 2) ---------------------------------------- */

static uint64_t read_number(const char *path)
{
    FILE *in = fopen(path, "re");
    unsigned long long number = UINT64_MAX;

    if (in != NULL) {
        if (fscanf(in, "%llu", &number) != 1) { /* "max" */
            number = UINT64_MAX;
        }
        fclose(in);
    }
    return number;
}

/* Obey a group's limit, which counts used pages, not addresses; the rest of the program uses few
 * pages. */
static void obey_group_limit(struct host_memory *m, uint64_t *bytes, uint64_t limit)
{
    if (limit != UINT64_MAX) {
        limit_to(m, bytes, limit - min_u64(OTHERS_USED, limit / 8), "the control group (cgroup)");
    }
}

/* Obey the limits of the group and of the groups that contain it. folder: where groups are mounted.
 * In a container, the group may be the mount itself; then the path that the system reports does not
 * exist there. */
static void obey_folders(struct host_memory *m, uint64_t *bytes, const char *folder, char *group,
                         const char *file)
{
    char path[GROUP_BYTES + 256];

    for (;;) {
        char *slash = strrchr(group, '/');

        if (snprintf(path, sizeof path, "%s%s%s/%s", root_of(m), folder, group, file) <
            (int)sizeof path) {
            obey_group_limit(m, bytes, read_number(path));
        }
        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
}

/* True if a list such as "cpu,memory" has the name. */
static bool has_name(const char *names, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = names; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0')) {
            return true;
        }
    }
    return false;
}

/* A line of /proc/self/cgroup: "0::/a/b" of version 2, "9:memory:/a/b" of version 1. */
static void obey_group(struct host_memory *m, uint64_t *bytes, char *line)
{
    char *names = strchr(line, ':'), *group = names != NULL ? strchr(names + 1, ':') : NULL;

    if (group == NULL) {
        return;
    }
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (names[1] == '\0') {
        obey_folders(m, bytes, "/sys/fs/cgroup", group, "memory.max");
    } else if (has_name(names + 1, "memory")) {
        obey_folders(m, bytes, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    }
}

static void obey_groups(struct host_memory *m, uint64_t *bytes)
{
    char line[GROUP_BYTES];
    FILE *in;

    snprintf(line, sizeof line, "%s/proc/self/cgroup", root_of(m));
    in = fopen(line, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        obey_group(m, bytes, line);
    }
    if (in != NULL) {
        fclose(in);
    }
}

/* ---- what there is --------------------------------------------------------------------------- */

static void *map(uint64_t bytes)
{
    void *base = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return base == MAP_FAILED ? NULL : base;
}

/* With vm.overcommit_memory=2 the system counts every reserved page, but does not report how many
 * are left. So try an eighth less each time, and leave an eighth of the result to the rest of the
 * program. */
static uint64_t find_most(struct host_memory *m, uint64_t bytes)
{
    void *base = bytes != 0 ? map(bytes) : NULL;

    if (base != NULL) {
        munmap(base, (size_t)bytes);
        return bytes;
    }
    /* Another limit leaves less than a page. */
    if (bytes == 0) {
        return 0;
    }
    m->limit = "the system (vm.overcommit_memory)";
    while (base == NULL && bytes >= LEAST) {
        bytes -= bytes / 8;
        base = map(bytes);
    }
    if (base == NULL) {
        return 0;
    }
    munmap(base, (size_t)bytes);
    return bytes - bytes / 8;
}

bool host_memory_reserve(struct host_memory *m)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * page;
    uint64_t later = OTHERS + (m->threads + 2) * stack_bytes();

    m->limit = NULL;
    obey_groups(m, &bytes);
    obey_limit(m, &bytes, RLIMIT_DATA, "ulimit -d", used_bytes(5), later);
    obey_limit(m, &bytes, RLIMIT_AS, "ulimit -v", used_bytes(0), later + m->mapped);
    if (m->most != 0) {
        limit_to(m, &bytes, m->most, NULL);
    }
    bytes = find_most(m, bytes / page * page) / page * page;
    m->base = bytes != 0 ? map(bytes) : NULL;
    m->bytes = (size_t)bytes;
    return m->base != NULL;
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14, newer than some C libraries */
#endif

void host_memory_touch(void *base, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)base & ~(page - 1);

    if (bytes != 0) {
        (void)madvise((void *)begin, (uintptr_t)base + bytes - begin, MADV_POPULATE_WRITE);
    }
}
