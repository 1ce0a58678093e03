/* The CSV of `ingot serial`: names and reasons with separators in them come back unchanged (RFC
 * 4180, 2.5 to 2.7), there is one header, and a row for each reply. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/line/serial_events.h"
#include "tests/unit/tap.h"

enum { TIME_BYTES = sizeof "2025-01-01T00:00:00Z" - 1, MOST = 4096 };

static char path[] = "/tmp/serial-events-XXXXXX";

static enum serial_kind take(struct serial_events *e, const char *line)
{
    char copy[1024];

    snprintf(copy, sizeof copy, "%s", line);
    return serial_events_take(e, copy, strlen(copy));
}

/* Returns the rows behind the header, without their times. */
static const char *row(const char *file, unsigned n)
{
    const char *at = strstr(file, "\n20");

    for (; at != NULL && n > 0; n--) {
        at = strstr(at + 1, "\n20");
    }
    return at != NULL && strlen(at) > TIME_BYTES ? at + 1 + TIME_BYTES : "";
}

static void read_file(char *out)
{
    FILE *f = fopen(path, "r");
    size_t n = f != NULL ? fread(out, 1, MOST - 1, f) : 0;

    out[n] = '\0';
    if (f != NULL) {
        fclose(f);
    }
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void reply(struct serial_events *e, const char *names, const char *reason)
{
    char line[512];

    snprintf(line, sizeof line, "{\"event\":\"ready\",%s}", names);
    OK(take(e, line) == SERIAL_READY, "ready is read: %s", names);
    snprintf(line, sizeof line, "{\"event\":\"done\",\"reason\":\"%s\",\"reply_tokens\":5}",
             reason);
    OK(take(e, line) == SERIAL_DONE, "done is read");
}

/* The actions of a model are listed with its replies, quiet or not. */
static void test_action(struct serial_events *e)
{
    char said[128] = "";
    FILE *to = tmpfile();
    int before = dup(2);
    enum serial_kind kind;

    fflush(stderr);
    dup2(fileno(to), 2);
    kind = take(e, "{\"event\":\"action\",\"name\":\"light\",\"done\":true,\"dry\":false,"
                   "\"arguments\":{\"value\":\"on\"},\"result\":\"light is on\"}");
    fflush(stderr);
    dup2(before, 2);
    close(before);
    rewind(to);
    (void)fgets(said, sizeof said, to);
    fclose(to);
    OK(kind == SERIAL_OTHER && strcmp(said, "(light is on)\n") == 0,
       "the result of an action is printed: %s", said);
}

static long bytes_of_file(void)
{
    struct stat st;

    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

/* A disk that takes only a part of a row: none of the row is in the table, and the end is an
 * error. */
static void test_full(rlim_t more)
{
    struct serial_events e = { .quiet = true };
    struct rlimit before, limit;
    long whole = bytes_of_file();
    char said[256] = "";
    FILE *to = tmpfile();
    int shown = dup(2);
    bool good;

    OK(serial_csv_open(&e, path), "a table of %ld bytes is opened once more", whole);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = (struct rlimit){ (rlim_t)whole + more, before.rlim_max };
    signal(SIGXFSZ, SIG_IGN); /* as main() does */
    setrlimit(RLIMIT_FSIZE, &limit);
    reply(&e, "\"board\":\"b\",\"model\":\"m\"", "end");
    reply(&e, "\"board\":\"b\",\"model\":\"m\"", "limit");
    fflush(stderr);
    dup2(fileno(to), 2);
    good = serial_csv_close(&e);
    fflush(stderr);
    dup2(shown, 2);
    close(shown);
    setrlimit(RLIMIT_FSIZE, &before);
    rewind(to);
    (void)fgets(said, sizeof said, to);
    fclose(to);
    OK(!good && strstr(said, path) != NULL && strstr(said, strerror(EFBIG)) != NULL,
       "a disk that takes only %u bytes more is reported: %s", (unsigned)more, said);
    OK(bytes_of_file() == whole, "no partial row is written: %ld bytes", bytes_of_file());
}

int main(void)
{
    struct serial_events e = { .quiet = true };
    char file[MOST];
    int fd = mkstemp(path);

    OK(fd >= 0 && serial_csv_open(&e, path), "an empty file is opened");
    reply(&e, "\"board\":\"a, b\",\"model\":\"say \\\"hi\\\"\\nthere\"", "end");
    reply(&e, "\"board\":\"plain\",\"model\":\"\\\"\"", "x,\\r");
    OK(fclose(e.csv) == 0 && serial_csv_open(&e, path), "the file is opened again");
    reply(&e, "\"board\":\"\",\"model\":\"demo\"", "limit");
    OK(take(&e, "{\"event\":\"done\",\"reason\":\"command\"}") == SERIAL_DONE,
       "the end of a command is read");
    fclose(e.csv);
    read_file(file);
    OK(starts(file, "time,board,model,reason,") && strstr(file + 1, "time,") == NULL,
       "both rows share one header");
    OK(starts(row(file, 0), ",\"a, b\",\"say \"\"hi\"\"\nthere\",end,"),
       "a field with a comma, quotes or a line's end has quotes");
    OK(starts(row(file, 1), ",plain,\"\"\"\",\"x,\r\","), "a field that needs no quotes has none");
    OK(starts(row(file, 2), ",,demo,limit,"), "an empty name stays empty");
    OK(row(file, 3)[0] == '\0', "a command has no row");
    test_full(0);
    test_full(7);
    close(fd);
    unlink(path);
    test_action(&e);
    return tap_done();
}
