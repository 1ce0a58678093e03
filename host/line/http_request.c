#include "host/line/http_request.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <cjson/cJSON.h>

enum {
    CANCEL_BYTES = 256, /* a request that cancels another one is shorter */
    TAKE_MS = 20000,    /* limit for the other end to take bytes */
};

bool http_put_all(int fd, const char *bytes, size_t n)
{
    while (n != 0) {
        struct pollfd p = { .fd = fd, .events = POLLOUT };
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

        if (sent < 0 && (errno != EAGAIN || poll(&p, 1, TAKE_MS) != 1)) {
            return false;
        }
        bytes += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

/* Send an event with the id of its request, unless id is NULL. Frees both. */
static bool put_event(int fd, cJSON *event, cJSON *id)
{
    char *text;
    bool good;

    if (id != NULL && !cJSON_AddItemToObject(event, "id", id)) {
        cJSON_Delete(id);
    }
    text = cJSON_PrintUnformatted(event);
    good = text != NULL && http_put_all(fd, "\n", 1) && http_put_all(fd, text, strlen(text)) &&
           http_put_all(fd, "\n", 1);
    cJSON_free(text);
    cJSON_Delete(event);
    return good;
}

static cJSON *new_event(const char *kind)
{
    cJSON *event = cJSON_CreateObject();

    (void)cJSON_AddStringToObject(event, "event", kind);
    return event;
}

bool http_request_end(int fd, const char *line, size_t n, const char *name, const char *text,
                      const char *reason)
{
    cJSON *request = cJSON_ParseWithLength(line, n);
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(request, "id");
    cJSON *event;
    bool good = true;

    if (text != NULL) {
        event = new_event("error");
        (void)cJSON_AddStringToObject(event, "name", name);
        (void)cJSON_AddStringToObject(event, "text", text);
        good = put_event(fd, event, cJSON_Duplicate(id, true));
    }
    event = new_event("done");
    (void)cJSON_AddStringToObject(event, "reason", reason);
    good = put_event(fd, event, cJSON_Duplicate(id, true)) && good;
    cJSON_Delete(request);
    return good;
}

bool http_request_cancels(const char *line, size_t n, const char *other, size_t n_other,
                          bool running)
{
    cJSON *from, *to;
    const cJSON *what, *id;
    bool is_it;

    if (n >= CANCEL_BYTES) {
        return false;
    }
    from = cJSON_ParseWithLength(line, n);
    to = cJSON_ParseWithLength(other, n_other);
    what = cJSON_GetObjectItemCaseSensitive(from, "cancel");
    id = cJSON_GetObjectItemCaseSensitive(to, "id");
    is_it = cJSON_IsTrue(what)
                ? running
                : (cJSON_IsString(what) || cJSON_IsNumber(what)) && cJSON_Compare(what, id, true);
    cJSON_Delete(from);
    cJSON_Delete(to);
    return is_it;
}
