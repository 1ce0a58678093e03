/* The one writer of files, in cases that a shell cannot arrange: the order in which data, name and
 * folder reach the disk, a disk that fails at the very end, and the properties of the old file that
 * the new one keeps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "flash_image/output/output_file.h"
#include "tests/unit/tap.h"

enum { MOST_STEPS = 64 };

static char folder[256], error_message[512];
static char
    steps[MOST_STEPS]; /* 'f' a file or 'd' a folder reached the disk, 'r' a name was given */
static int file_error, folder_error; /* of the next fsync */

static void note(char step)
{
    size_t n = strlen(steps);

    if (n + 1 < sizeof steps)
        steps[n] = step;
}

/* Replaces the C library's. */
int fsync(int fd)
{
    struct stat st;
    bool is_folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    int error = is_folder ? folder_error : file_error;

    note(is_folder ? 'd' : 'f');
    if (error != 0) {
        errno = error;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    note('r');
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static const char *path(const char *name)
{
    static char text[4][512];
    static unsigned nth;
    char *to = text[nth++ % 4];

    snprintf(to, sizeof text[0], "%s/%s", folder, name);
    return to;
}

static bool put(const char *name, const char *text, mode_t mode)
{
    FILE *f = fopen(path(name), "w");

    return f != NULL && fputs(text, f) >= 0 && fclose(f) == 0 && chmod(path(name), mode) == 0;
}

static bool holds(const char *name, const char *text)
{
    char found[256];
    FILE *f = fopen(path(name), "r");
    size_t n = f == NULL ? 0 : fread(found, 1, sizeof found - 1, f);

    found[n] = '\0';
    if (f != NULL)
        fclose(f);
    return f != NULL && strcmp(found, text) == 0;
}

static unsigned mode_of(const char *name)
{
    struct stat st;

    return stat(path(name), &st) == 0 ? st.st_mode & 07777u : 0;
}

/* Whether no temporary file is left. */
static bool is_tidy(void)
{
    char command[300];

    snprintf(command, sizeof command, "ls -A %s | grep -q '^[.]ingot-'", folder);
    return system(command) != 0;
}

static enum err make(const char *name, const char *text)
{
    const struct output_wish wish = { .path = path(name) };

    memset(steps, 0, sizeof steps);
    error_message[0] = '\0';
    return output_write(&wish, text, strlen(text), error_message, sizeof error_message);
}

static void test_order(void)
{
    char here[256];

    OK(make("a", "new") == ERR_OK && strcmp(steps, "frd") == 0,
       "the data are written first, then the name, then the folder: %s %s", steps, error_message);
    OK(getcwd(here, sizeof here) != NULL && chdir(folder) == 0,
       "the test goes into the folder itself");
    {
        const struct output_wish wish = { .path = "b" };

        memset(steps, 0, sizeof steps);
        OK(output_write(&wish, "new", 3, error_message, sizeof error_message) == ERR_OK &&
               strcmp(steps, "frd") == 0 && holds("b", "new"),
           "a name without a folder is written in the same order: %s %s", steps, error_message);
    }
    OK(chdir(here) == 0, "the test is back in its folder");
}

static void test_failures(void)
{
    OK(put("a", "old", 0644), "the test has an old file");
    file_error = EIO;
    OK(make("a", "new") == ERR_IO && holds("a", "old") && is_tidy() && strchr(steps, 'r') == NULL &&
           strstr(error_message, strerror(EIO)) != NULL,
       "a disk that fails at the end leaves the old file: %s", error_message);
    file_error = ENOSPC;
    OK(make("c", "new") == ERR_IO && access(path("c"), F_OK) != 0 && is_tidy(),
       "a disk that fails at the end leaves no new file: %s", error_message);
    file_error = 0;
    folder_error = EIO;
    OK(make("a", "new") == ERR_IO && strstr(error_message, strerror(EIO)) != NULL && is_tidy(),
       "a folder that does not come to the disk is reported: %s", error_message);
    folder_error = EINVAL;
    OK(make("a", "newer") == ERR_OK && holds("a", "newer"),
       "a file system that cannot flush folders is good enough: %s", error_message);
    folder_error = 0;
}

static ssize_t take_some(void *file, const char *data, size_t bytes)
{
    (void)file;
    (void)data;
    return bytes > 1 ? (ssize_t)bytes - 1 : 0;
}

/* The rest of a stream's buffer fails when it is closed. */
static void test_stream(void)
{
    const struct output_wish wish = { .path = path("s") };
    struct output_file o;

    OK(put("s", "old", 0644) &&
           output_open(&o, &wish, error_message, sizeof error_message) == ERR_OK,
       "a stream opens");
    o.stream = fopencookie(&o, "w", (cookie_io_functions_t){ .write = take_some });
    OK(o.stream != NULL && fputs("new", o.stream) >= 0 &&
           output_keep(&o, error_message, sizeof error_message) == ERR_IO && holds("s", "old") &&
           is_tidy(),
       "a stream whose last byte does not come to the disk leaves the old file: %s", error_message);
}

static void test_rights(void)
{
    static const mode_t modes[] = { 0600, 0640, 0664, 0755, 0200 };
    mode_t mask = umask(027);

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        OK(put("m", "old", modes[i]) && make("m", "new") == ERR_OK && mode_of("m") == modes[i],
           "a file of mode %o keeps it: %o %s", (unsigned)modes[i], mode_of("m"), error_message);
    OK(put("m", "old", 04755) && make("m", "new") == ERR_OK && mode_of("m") == 0755,
       "a new file of a set-user-ID file does not run as its owner: %o", mode_of("m"));
    OK(make("n", "new") == ERR_OK && mode_of("n") == 0640,
       "a new file has the mode that umask leaves: %o", mode_of("n"));
    umask(mask);
}

/* A file that only its owner may read is not open to others while it is written. */
static void test_secret(void)
{
    const struct output_wish wish = { .path = path("k") };
    struct output_file o;
    struct stat st;

    OK(put("k", "old", 0600) &&
           output_open(&o, &wish, error_message, sizeof error_message) == ERR_OK &&
           fstat(o.fd, &st) == 0 && (st.st_mode & 0777) == 0600,
       "the new contents have the rights of the old file from the first byte on");
    output_drop(&o);
    OK(holds("k", "old") && mode_of("k") == 0600 && is_tidy(), "a dropped output is gone");
}

static void test_links(void)
{
    OK(put("h", "old", 0640) && link(path("h"), path("other")) == 0 && make("h", "new") == ERR_OK &&
           holds("h", "new") && holds("other", "old") && mode_of("h") == 0640,
       "the other name of a hard link keeps the old contents: %s", error_message);
    OK(put("there", "old", 0604) && symlink("there", path("to")) == 0 &&
           make("to", "new") == ERR_OK && holds("there", "new") && mode_of("there") == 0604,
       "a symbolic link is written through, and what it leads to keeps its rights: %s",
       error_message);
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    char command[300];

    snprintf(folder, sizeof folder, "%s/ingot-output-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        OK(false, "a scratch folder like %s can be made: set TMPDIR", folder);
        return tap_done();
    }
    test_order();
    test_failures();
    test_stream();
    test_rights();
    test_secret();
    test_links();
    snprintf(command, sizeof command, "rm -r %s", folder);
    OK(system(command) == 0, "the folder is gone");
    return tap_done();
}
