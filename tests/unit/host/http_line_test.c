/* Lines over HTTP to a made-up board: which of them stop, and what is answered in its place. */
#include "host/line/http_line.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/tap.h"

enum { BYTES = 8192, WAIT_MS = 10000, SILENCE_MS = 300 };

/* ---- the board: it answers a line at once, unless the line has the word `slow` ---- */

static int listener;
static int slow = -1; /* connection of a slow line, whose answer goes on */

/* Read a request; *body is where its body begins. */
static bool read_request(int fd, char request[BYTES], char **body)
{
    size_t n = 0, bytes;

    for (;;) {
        ssize_t got = recv(fd, request + n, BYTES - 1 - n, 0);
        const char *length;

        if (got <= 0) {
            return false;
        }
        n += (size_t)got;
        request[n] = '\0';
        length = strstr(request, "Content-Length: ");
        *body = strstr(request, "\r\n\r\n");
        if (length == NULL || *body == NULL) {
            continue;
        }
        *body += 4;
        bytes = (size_t)atoi(length + 16);
        if (n - (size_t)(*body - request) >= bytes) {
            return true;
        }
    }
}

static void answer(int fd, const char *line)
{
    char text[BYTES];
    int n = snprintf(text, sizeof text, "HTTP/1.0 200 OK\r\n\r\n");

    if (line[0] == 5) {
        n += snprintf(text + n, sizeof text - (size_t)n, "{\"event\":\"ready\"}\n");
    } else if (strstr(line, "slow") != NULL) {
        n += snprintf(text + n, sizeof text - (size_t)n, "{\"event\":\"token\"}\n");
    } else if (strstr(line, "broken") != NULL) {
        n += snprintf(text + n, sizeof text - (size_t)n, "{\"event\":\"token\"}\n");
    } else {
        n += snprintf(text + n, sizeof text - (size_t)n, "{\"event\":\"done\",\"board\":%s}\n",
                      line);
    }
    (void)send(fd, text, (size_t)n, MSG_NOSIGNAL);
}

static void *be_board(void *context)
{
    char request[BYTES], *line;

    (void)context;
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        if (fd < 0) {
            return NULL;
        }
        if (slow >= 0) {
            close(slow);
            slow = -1;
        }
        if (read_request(fd, request, &line)) {
            answer(fd, line);
        }
        if (strstr(line, "slow") != NULL) {
            slow = fd;
        } else {
            close(fd);
        }
    }
}

static int open_line(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t bytes = sizeof at;
    char name[64];
    pthread_t thread;

    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr *)&at, &bytes) != 0 ||
        pthread_create(&thread, NULL, be_board, NULL) != 0) {
        return -1;
    }
    pthread_detach(thread);
    snprintf(name, sizeof name, "http://127.0.0.1:%u", ntohs(at.sin_port));
    return http_line_open(name);
}

/* ---- the caller ---- */

static int fd;
static char heard[BYTES];

static void say(const char *text)
{
    (void)send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* Hear events until one has this text; heard[] has all of them. */
static bool hear(const char *text, int wait_ms)
{
    size_t n = 0;
    struct pollfd p = { .fd = fd, .events = POLLIN };

    heard[0] = '\0';
    while (strstr(heard, text) == NULL && n + 1 < sizeof heard && poll(&p, 1, wait_ms) == 1) {
        ssize_t got = recv(fd, heard + n, sizeof heard - 1 - n, 0);

        if (got <= 0) {
            return false;
        }
        n += (size_t)got;
        heard[n] = '\0';
    }
    return strstr(heard, text) != NULL;
}

static void begin_slow(const char *id)
{
    char line[256];

    snprintf(line, sizeof line, "{\"id\":%s,\"prompt\":\"slow\"}\n", id);
    say(line);
    OK(hear("token", WAIT_MS), "a slow line has begun: %s", heard);
}

static void test_running(void)
{
    begin_slow("\"a\"");
    say("{\"cancel\":\"b\"}\n{\"cancel\":7}\n{\"cancel\":[\"a\"]}\n");
    OK(!hear("stopped", SILENCE_MS), "another id does not stop the running line: %s", heard);
    say("{\"id\":\"c\",\"cancel\":\"a\"}\n");
    OK(hear("{\"id\":\"c\",\"cancel\":\"a\"}}", WAIT_MS) &&
           strstr(heard, "\n{\"event\":\"done\",\"reason\":\"stopped\",\"id\":\"a\"}\n") != NULL,
       "its id stops it, and each cancelling line has its own `done`: %s", heard);
    begin_slow("7");
    say(" { \"cancel\" : 7 }\n");
    OK(hear("\"reason\":\"stopped\",\"id\":7}", WAIT_MS), "a number is an id, too: %s", heard);
    begin_slow("7");
    say("{\"cancel\":\"7\"}\n");
    OK(!hear("stopped", SILENCE_MS), "a text is not a number's id: %s", heard);
    say("{\"cancel\":true}\n");
    OK(hear("\"cancel\":true}}", WAIT_MS) && strstr(heard, "stopped") != NULL,
       "`true` stops whatever runs: %s", heard);
}

static void test_waiting(void)
{
    begin_slow("1");
    say("{\"id\":2,\"n\":1}\n{\"id\":3,\"n\":1}\n{\"cancel\":2}\n\3");
    OK(hear("{\"cancel\":2}}", WAIT_MS) &&
           strstr(heard, "{\"event\":\"done\",\"reason\":\"stopped\",\"id\":1}") != NULL &&
           strstr(heard, "{\"event\":\"done\",\"reason\":\"stopped\",\"id\":2}") != NULL &&
           strstr(heard, "\"board\":{\"id\":3,") != NULL,
       "a waiting line is cancelled, and the one after it runs: %s", heard);
}

static void test_ctrl_c(void)
{
    say("{\"id\":1,\"pro\3");
    OK(hear("ready", WAIT_MS), "a Ctrl-C when nothing runs is answered: %s", heard);
    say("{\"id\":2}\n");
    OK(hear("done", WAIT_MS) && strstr(heard, "\"board\":{\"id\":2}") != NULL,
       "and the unfinished line is dropped: %s", heard);
    say("{\"id\":3,\"prompt\":\"slow\"}\n\3");
    OK(hear("done", WAIT_MS) && strstr(heard, "\"reason\":\"stopped\",\"id\":3}") != NULL,
       "a Ctrl-C right after a line stops it: %s", heard);
}

static void test_long_id(void)
{
    char id[65], line[256];

    memset(id, 'x', 64);
    id[64] = '\0';
    snprintf(line, sizeof line, "{\"id\":\"%s\",\"prompt\":\"broken\"}\n", id);
    say(line);
    snprintf(line, sizeof line, "\"reason\":\"error\",\"id\":\"%s\"}\n", id);
    OK(hear(line, WAIT_MS) && strstr(heard, "the connection to the board broke") != NULL,
       "an id of 64 bytes comes back whole: %s", heard);
}

int main(void)
{
    fd = open_line();
    OK(fd >= 0, "the line opens");
    test_running();
    test_waiting();
    test_ctrl_c();
    test_long_id();
    close(fd);
    return tap_done();
}
