/* OpenAI's API on a machine without an operating system: an HTTP site (runtime/http) whose requests
 * wait here until the conversation is free, and then become lines of mode=json. All memory is in
 * struct api. Core 0.
 *
 * Site functions run whenever the network is polled, also in the middle of a reply, and only
 * note what came. api_serve answers one request; call it between two lines of the conversation. */
#ifndef INGOT_RUNTIME_API_H
#define INGOT_RUNTIME_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/api/api_chat.h"
#include "runtime/api/api_load.h"
#include "runtime/api/api_request.h"
#include "runtime/api/api_text.h"
#include "runtime/api/api_upload.h"
#include "runtime/chat/chat.h"
#include "runtime/console/console.h"
#include "runtime/http/http_connection.h"

enum {
    API_CLIENTS = 8,
    API_WAITING = 4, /* requests that wait for the model; further ones are told to come again */
    API_BODY_BYTES = 24 * 1024,
    API_LINE_BYTES = 32 * 1024,
    API_OUT_BYTES = 16 * 1024,
    API_PIECE_BYTES = 1024,
    API_EVENT_BYTES = 8192, /* length of an event of mode=json that is parsed; longer ones are
                             * ignored */
    API_SLOW_MS = 5000,     /* how long a reply waits for a client that does not take it */
    API_NAME_BYTES = 256,
    API_MEMORY_BYTES = 160 * 1024, /* memory of a request: its values, and what it becomes */
};

enum api_stage {
    API_READS,   /* a request is arriving, or there is none */
    API_WAITS,   /* it is complete and waits for the model */
    API_WORKS,   /* it is being answered */
    API_ANSWERS, /* the whole answer is in `out` */
};

struct api;

struct api_client {
    struct api *api;
    struct http_connection *http; /* NULL: the client is gone */
    enum api_stage stage;
    enum api_kind kind;
    uint64_t order;   /* order of the waiting requests: the smallest number is next */
    uint32_t callers; /* requests of this slot so far: a new number means another client */
    bool keeps_body;  /* the current request keeps its body */
    bool uploads;     /* its body is a file: `body` has the bytes that were not written yet */
    bool arrived;     /* the whole body has come */
    bool has_crc;
    uint32_t crc;           /* CRC of the whole file, as the sender states it */
    struct api_range range; /* of the file */
    char path[API_PATH_BYTES];
    size_t body_bytes;
    char body[API_BODY_BYTES + 1];
    size_t out_at, out_end; /* bytes of out that were not fetched yet */
    bool last;              /* nothing more is added to out */
    bool cut;               /* the answer breaks off: close the connection */
    char out[API_OUT_BYTES];
};

struct api_setup {
    const struct platform *platform;
    const char *name;  /* name of this host: NAME and NAME.local are our names */
    const char *token; /* NULL: there is none */
    bool open;         /* everyone who can reach the board may ask, without a token */
    /* Give the network its turn while the model works. */
    void (*poll)(void *context);
    void *context;
    struct api_store store;
    /* Another model replaces the current one. NULL: it has; else an error message, and *status of
     * the answer. The function is NULL: there never is another. */
    const char *(*load)(void *context, const char *name, int *status);
    /* Hold the replies that follow to a compiled grammar (bytes), until `release`. NULL: they are
     * held; else why not, a sentence. */
    const char *(*hold)(void *context, const void *grammar, size_t bytes);
    void (*release)(void *context);
    /* Fields for /stats, as members of a JSON object with a comma in front; "" if there are
     * none. */
    void (*figures)(void *context, struct api_text *to);
};

/* The answer that is being written. */
struct api_work {
    struct api_client *client;
    uint32_t caller;    /* the client's number when it asked */
    bool begun, failed; /* the head has been sent; it ended with an error */
    bool stops;         /* the last byte of input was a Ctrl-C */
    uint64_t number;
    struct api_job job; /* the request, and its current reply */
    struct api_answer answer;
    struct api_memory memory;
    size_t request_bytes;     /* memory of the request: what follows is the reply's */
    uint32_t number_of_reply; /* among those to the request */
    struct api_events at;
    struct api_usage usage;
    struct api_figures first; /* of the first reply */
    struct api_text out;      /* in `piece`, which is passed on when it is full */
    char piece[API_PIECE_BYTES];
    uint32_t embedded; /* tokens of the texts so far */
    bool in_values; /* the numbers of a vector are coming, and `event` holds one of them from ... */
    size_t number_at;   /* ... here on */
    size_t event_bytes; /* bytes of `event`; an event longer than API_EVENT_BYTES is dropped */
    char event[API_EVENT_BYTES + 1];
};

struct api {
    struct api_setup setup;
    char model[API_NAME_BYTES]; /* its name; "": none is loaded */
    uint64_t n_orders, n_answers, n_refused, last_poll;
    struct platform platform; /* the machine's platform, with the console of a guest */
    struct console console;
    struct api_work work;
    struct api_upload upload;
    char line[API_LINE_BYTES];
    uint64_t memory[API_MEMORY_BYTES / sizeof(uint64_t)]; /* memory of the current request */
    char text[1024];                                      /* a short answer, until it is copied */
    struct api_client clients[API_CLIENTS];
};

/* api is zeroed. */
void api_open(struct api *a, const struct api_setup *setup);

/* The model that is loaded, by name; NULL: none is. */
void api_set_model(struct api *a, const char *name);

/* The server of connections needs the site and its users. */
extern const struct http_site api_site;
void *api_begin(void *api, unsigned n, struct http_connection *http);
void api_end(void *api, unsigned n);
bool api_works(void *api, unsigned n);

/* Whether a request waits. */
bool api_has_work(const struct api *a);

/* Answer the request that has waited longest. c: the chat, with a model or without one;
 * conversation: as for chat_json_guest. */
void api_serve(struct api *a, struct chat *c, const char *conversation);

/* ---- shared by the files of this folder ---- */

/* A whole answer (bytes, at most API_OUT_BYTES); fields: of its head, or NULL. */
void api_answer(struct api_client *k, int status, const char *type, const char *fields,
                const char *body, size_t bytes);

/* An error object as the whole answer; param, code: "" for null. */
void api_answer_error(struct api_client *k, int status, const char *message, const char *param,
                      const char *code);

/* The chat's console becomes the current answer. */
void api_open_console(struct api *a);

/* Whether another request may wait. */
bool api_may_wait(const struct api *a);

uint64_t api_now_ms(const struct api *a);

/* Whether the client of the current answer is gone. */
bool api_is_gone(const struct api *a);

/* Append bytes to the current answer. False: the client does not take them, or is gone. */
bool api_out(struct api *a, const char *bytes, size_t n);

/* The request is read, and its answer begins; then reply i to it. */
void api_event_begin(struct api *a);
void api_reply_begin(struct api *a, uint32_t i);

/* Whether the request left enough memory for a reply, whose scores may limit its length. */
bool api_reply_has_room(struct api *a);

/* A byte of what the chat says in mode=json. */
void api_event_byte(struct api *a, char byte);

/* The reply ends. */
void api_reply_end(struct api *a);

/* End the answer, whether it succeeded or not. */
void api_event_end(struct api *a);

#endif
