/* How much memory a process takes for a model: the computer's, or what is left by control groups of
 * both versions, ulimit, and a system that promises no more than it has. The test makes the groups'
 * files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "board/host/host_memory.h"
#include "tests/unit/tap.h"

#define MIB ((uint64_t)1 << 20)

static char root[256];
static uint64_t promised = UINT64_MAX; /* bytes that the system gives at once */

/* Replaces the C library's function for host_memory.c: a system with vm.overcommit_memory=2. */
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if (bytes > promised) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

/* Writes a file under the root, and makes the folders that it needs. */
static void put(const char *path, const char *text)
{
    char whole[512];
    FILE *f;

    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *at = strchr(whole + strlen(root) + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(whole, 0700);
        *at = '/';
    }
    f = fopen(whole, "w");
    if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
        OK(false, "%s can be made", whole);
}

static void start_over(void)
{
    char command[300];

    snprintf(command, sizeof command, "rm -rf %s/proc %s/sys", root, root);
    if (system(command) != 0)
        OK(false, "%s can be emptied", root);
}

/* Reserves memory and frees it again. */
static struct host_memory reserve(uint64_t most)
{
    struct host_memory m = { .most = most, .root = root };

    if (host_memory_reserve(&m))
        munmap(m.base, m.bytes);
    return m;
}

static bool is_group(const struct host_memory *m, uint64_t limit)
{
    return m->bytes < limit && m->bytes >= limit - limit / 8 - 65536 && m->limit != NULL &&
           strstr(m->limit, "cgroup") != NULL;
}

static void test_groups(void)
{
    struct host_memory m, all;

    start_over();
    all = reserve(0);
    OK(all.bytes > 256 * MIB && all.limit == NULL, "without a group all %zu bytes are free",
       all.bytes);
    put("/proc/self/cgroup", "0::/user.slice/session\n");
    put("/sys/fs/cgroup/user.slice/session/memory.max", "max\n");
    put("/sys/fs/cgroup/user.slice/memory.max", "201326592\n");
    m = reserve(0);
    OK(is_group(&m, 192 * MIB),
       "version 2: the limit of the group around the process's is 192 MiB: %zu", m.bytes);
    put("/sys/fs/cgroup/user.slice/session/memory.max", "67108864\n");
    m = reserve(0);
    OK(is_group(&m, 64 * MIB), "version 2: the limit of the process's own group is 64 MiB: %zu",
       m.bytes);
    m = reserve(16 * MIB);
    OK(m.bytes == 16 * MIB && m.limit == NULL, "--mem counts if it is below the group's limit");
    put("/sys/fs/cgroup/user.slice/session/memory.max", "9223372036854771712\n");
    put("/sys/fs/cgroup/user.slice/memory.max", "max\n");
    m = reserve(0);
    OK(m.bytes == all.bytes && m.limit == NULL,
       "a limit above the computer's memory does not count");
    start_over();
    put("/proc/self/cgroup", "0::/../a\n");
    put("/sys/fs/cgroup/memory.max", "100663296\n");
    m = reserve(0);
    OK(is_group(&m, 96 * MIB),
       "a container that sees only its own group has that group's limit: %zu", m.bytes);
}

static void test_old_groups(void)
{
    struct host_memory m;
    char line[4200];

    start_over();
    put("/proc/self/cgroup",
        "12:cpu,cpuacct:/a\n9:memory:/docker/0123\n1:name=systemd:/a\n0::/a\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "134217728\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/memory.limit_in_bytes", "1048576\n");
    m = reserve(0);
    OK(is_group(&m, 128 * MIB),
       "version 1: a container whose path is not there has the root's limit: %zu", m.bytes);
    put("/sys/fs/cgroup/memory/docker/0123/memory.limit_in_bytes", "50331648\n");
    m = reserve(0);
    OK(is_group(&m, 48 * MIB), "version 1: the limit of the process's own group counts: %zu",
       m.bytes);
    put("/proc/self/cgroup", "4:hugetlb,memory:/docker/0123\n");
    m = reserve(0);
    OK(is_group(&m, 48 * MIB),
       "version 1: the limit of memory beside another controller counts: %zu", m.bytes);
    put("/proc/self/cgroup", "4:memoryless:/docker/0123\n");
    m = reserve(0);
    OK(m.limit == NULL, "a controller whose name only begins alike is not taken");
    memset(line, 'a', sizeof line);
    snprintf(line, sizeof line, "8:cpu:/%04000d\n9:memory:/docker/0123\n", 7);
    put("/proc/self/cgroup", line);
    m = reserve(0);
    OK(is_group(&m, 48 * MIB), "a group after one with a long path is found: %zu", m.bytes);
}

static void test_system(void)
{
    struct host_memory m;

    start_over();
    promised = 64 * MIB;
    m = reserve(0);
    OK(m.base != NULL && m.bytes <= 64 * MIB && m.bytes >= 40 * MIB && m.limit != NULL &&
           strstr(m.limit, "vm.overcommit_memory") != NULL,
       "%zu bytes are taken of a system that promises 64 MiB, the rest is for others", m.bytes);
    m = reserve(32 * MIB);
    OK(m.bytes == 32 * MIB && m.limit == NULL, "--mem below the promise counts");
    promised = 1000;
    m = reserve(0);
    OK(m.base == NULL && m.limit != NULL, "a system that promises nothing gives no memory");
    promised = UINT64_MAX;
    m = reserve(100);
    OK(m.base == NULL && m.limit == NULL, "less than a page is not called a limit of the system");
}

static size_t resident_pages(void *base, size_t pages)
{
    unsigned char there[16] = { 0 };
    size_t n = 0;

    if (mincore(base, pages * (size_t)sysconf(_SC_PAGESIZE), there) != 0) {
        return 0;
    }
    for (size_t i = 0; i < pages; i++) {
        n += there[i] & 1;
    }
    return n;
}

static void test_touch(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *base = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                         0);

    (void)madvise(base, 16 * page, MADV_NOHUGEPAGE);
    base[4 * page] = 7;
    OK(resident_pages(base, 16) == 1, "pages come when they are written");
    if (madvise(base + 15 * page, page, 23 /* MADV_POPULATE_WRITE */) != 0 && errno == EINVAL) {
        OK(true, "pages are made before they are written # SKIP Linux is older than 5.14");
        return;
    }
    host_memory_touch(base + 2 * page + 5, 3 * page);
    OK(resident_pages(base, 15) == 4 && base[4 * page] == 7,
       "all pages that the bytes lie in are touched, and no other: %zu", resident_pages(base, 15));
    host_memory_touch(NULL, 0);
    munmap(base, 16 * page);
}

/* A sanitizer's own memory counts as well. */
static uint64_t data_bytes(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL || fscanf(f, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
        OK(false, "the program's size can be read");
    if (f != NULL)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void test_ulimit(void)
{
    struct rlimit before, limit;
    struct host_memory m;

    start_over();
    getrlimit(RLIMIT_DATA, &before);
    limit = (struct rlimit){ data_bytes() + 1024 * MIB, before.rlim_max };
    if (setrlimit(RLIMIT_DATA, &limit) != 0)
        OK(false, "a limit can be set");
    m = reserve(0);
    OK(m.bytes < 1024 * MIB && m.bytes > 256 * MIB && m.limit != NULL &&
           strcmp(m.limit, "ulimit -d") == 0,
       "ulimit -d leaves %zu bytes", m.bytes);
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/memory.max", "67108864\n");
    m = reserve(0);
    OK(is_group(&m, 64 * MIB), "the smaller of two limits counts, and has the name");
    setrlimit(RLIMIT_DATA, &before);
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(root, sizeof root, "%s/ingot-memory-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(root) == NULL) {
        OK(false, "a scratch folder like %s can be made: set TMPDIR", root);
        return tap_done();
    }
    test_groups();
    test_old_groups();
    test_touch();
    test_system();
    test_ulimit();
    start_over();
    OK(rmdir(root) == 0, "no file of the test is left");
    return tap_done();
}
