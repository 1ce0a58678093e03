/* What serve_request.c and serve_texts.c have in common; nobody else includes it. */
#ifndef INGOT_HOST_SERVE_REQUEST_PRIVATE_H
#define INGOT_HOST_SERVE_REQUEST_PRIVATE_H

#include <cjson/cJSON.h>

#include "host/serve_request.h"

struct serve_reader {
    struct serve_request *q;
    const struct serve_defaults *d;
    struct serve_error *e;
    const cJSON *tools, *tool_choice; /* of the body; NULL: absent */
    const cJSON *calls; /* those of the message before, which tools answer; NULL: none */
};

struct serve_field {
    const char *name;
    unsigned kinds;
    bool (*read)(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
    size_t at;          /* of a float in struct sampler_params */
    double least, most; /* of a number */
};

/* False, and r->e says that there is no memory. */
bool serve_no_memory(struct serve_reader *r);

/* The fields messages, prompt and input. False: r->e says why not. */
bool serve_read_messages(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
bool serve_read_prompt(struct serve_reader *r, const struct serve_field *f, const cJSON *value);
bool serve_read_input(struct serve_reader *r, const struct serve_field *f, const cJSON *value);

/* serve_tools.c: the fields tools and tool_choice (NULL: absent), once all others are read. False: r->e. */
bool serve_tools_use(struct serve_reader *r, const cJSON *tools, const cJSON *tool_choice);

#endif
