/* OpenAI's API of a machine that has no operating system: an HTTP site (runtime/http) whose requests wait here until the conversation
 * is free, and become lines of mode=json then. All memory is in struct api. Core 0.
 *
 * Site functions run whenever the network is polled, also in the middle of a reply, and only note what came. api_serve answers
 * one request; it is called between two lines of the conversation. */
#ifndef INGOT_RUNTIME_API_H
#define INGOT_RUNTIME_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/api/api_request.h"
#include "runtime/api/api_text.h"
#include "runtime/api/api_upload.h"
#include "runtime/chat/chat.h"
#include "runtime/console/console.h"
#include "runtime/http/http_connection.h"

enum {
    API_CLIENTS = 8,
    API_WAITING = 4, /* requests that wait for the model; more are asked to come again */
    API_BODY_BYTES = 24 * 1024,
    API_LINE_BYTES = 32 * 1024,
    API_OUT_BYTES = 16 * 1024,
    API_EVENT_BYTES = 4096, /* an event of mode=json that is looked at; longer ones are ignored */
    API_SLOW_MS = 5000,     /* for which a reply waits for a client that does not take it */
    API_MODEL_BYTES = 256,
};

enum api_stage {
    API_READS,   /* a request comes, or none */
    API_WAITS,   /* it is whole, and waits for the model */
    API_WORKS,   /* it is answered now */
    API_ANSWERS, /* all of the answer is in `out` */
};

struct api;

struct api_client {
    struct api *api;
    struct http_connection *http; /* NULL: the client is gone */
    enum api_stage stage;
    enum api_kind kind;
    uint64_t order;   /* of those that wait: the smallest is next */
    uint32_t callers; /* that have been here: another one is not who asked */
    bool keeps_body;  /* of the request at hand */
    bool uploads;     /* its body is a file: `body` has what was not written */
    bool arrived;     /* all of that has come */
    bool has_crc;
    uint32_t crc;           /* of the whole file, as the sender says */
    struct api_range range; /* of the file */
    char path[API_PATH_BYTES];
    size_t body_bytes;
    char body[API_BODY_BYTES + 1];
    size_t out_at, out_end; /* of out, that were not fetched */
    bool last;              /* nothing is added to out any more */
    bool cut;               /* the answer has no end: the connection breaks */
    char out[API_OUT_BYTES];
};

struct api_setup {
    const struct platform *platform;
    const char *name;  /* of the host: NAME and NAME.local are names of ours */
    const char *token; /* NULL: there is none */
    bool open;         /* whoever reaches us may ask, without a token */
    /* Give the network its turn, while the model works. */
    void (*poll)(void *context);
    void *context;
    struct api_store store;
    /* Lines for /stats, as members of a JSON object with a comma in front; "" where there are none. */
    void (*figures)(void *context, struct api_text *to);
};

/* The answer that is being made. */
struct api_work {
    struct api_client *client;
    uint32_t caller; /* the client's number when it asked */
    struct api_request request;
    bool begun, failed; /* the head is out; it ended with an error */
    bool role_said;
    bool stops; /* the latest byte of input was a Ctrl-C */
    uint64_t number;
    uint32_t prompt_tokens, cached_tokens, new_tokens;
    char finish[12];
    size_t event_bytes; /* of `event`; beyond API_EVENT_BYTES it is too long */
    char event[API_EVENT_BYTES + 1];
};

struct api {
    struct api_setup setup;
    char model[API_MODEL_BYTES]; /* its name; "": none is loaded */
    uint64_t n_orders, n_answers, n_refused, last_poll;
    struct platform platform; /* the machine's, with the console of a guest */
    struct console console;
    struct api_work work;
    struct api_upload upload;
    char line[API_LINE_BYTES];
    char text[1024]; /* of a short answer, until it is copied */
    struct api_client clients[API_CLIENTS];
};

/* api is zeroed. */
void api_open(struct api *a, const struct api_setup *setup);

/* The model that is loaded, by name; NULL: none is. */
void api_set_model(struct api *a, const char *name);

/* A server of connections needs the site and its users. */
extern const struct http_site api_site;
void *api_begin(void *api, unsigned n, struct http_connection *http);
void api_end(void *api, unsigned n);
bool api_works(void *api, unsigned n);

/* Whether a request waits. */
bool api_has_work(const struct api *a);

/* Answer the one that has waited longest. c: the chat, with a model or without; conversation: as chat_json_guest. */
void api_serve(struct api *a, struct chat *c, const char *conversation);

/* ---- among the files of this folder ---- */

/* An error object as the whole answer; param, code: "" for null. */
void api_answer_error(struct api_client *k, int status, const char *message, const char *param,
                      const char *code);

/* Whether one more request may wait. */
bool api_may_wait(const struct api *a);

uint64_t api_now_ms(const struct api *a);

/* Whether who asked for the answer at work is not there any more. */
bool api_is_gone(const struct api *a);

/* Bytes of the answer at work. False: the client does not take them, or is gone. */
bool api_out(struct api *a, const char *bytes, size_t n);

/* A byte of what the chat says in mode=json. */
void api_event_byte(struct api *a, char byte);

/* The answer ends, however it went. */
void api_event_end(struct api *a);

#endif
