/* Bodies of any bytes to OpenAI's API of a board: what becomes a line is one object that the reader of mode=json takes apart, with no
 * field that the body could not have asked for, and nothing is written beyond the line's memory. The first byte says which kind it is,
 * the second how much room there is. */
#include <stdlib.h>
#include <string.h>

#include "runtime/api/api_request.h"
#include "runtime/wire/json_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 4096, ROOM = 6 * MOST };

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static bool may_be_there(unsigned field)
{
    static const enum json_field never[] = {
        JSON_FIELD_COMMAND,  JSON_FIELD_ADAPTER, JSON_FIELD_GRAMMAR,      JSON_FIELD_HELLO,
        JSON_FIELD_LOAD,     JSON_FIELD_STATS,   JSON_FIELD_PLAN,         JSON_FIELD_CANCEL,
        JSON_FIELD_RESEND,   JSON_FIELD_CHECK,   JSON_FIELD_MODELS,       JSON_FIELD_ID,
        JSON_FIELD_TOKENIZE, JSON_FIELD_PROMPT,  JSON_FIELD_CONVERSATION,
    };

    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        if (never[i] == field) {
            return false;
        }
    }
    return true;
}

static void check_line(const struct api_request *a, const struct api_text *line)
{
    struct json_request r;

    json_request_read(&r, line->text, line->n);
    must(r.error == NULL || strcmp(r.error, "json") != 0);
    for (unsigned i = 0; i < JSON_N_FIELDS; i++) {
        must(r.values[i] == NULL || may_be_there(i));
    }
    must(r.error != NULL ||
         r.values[a->kind == API_CHAT ? JSON_FIELD_MESSAGES : JSON_FIELD_RAW] != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum api_kind kind = size > 0 && data[0] & 1 ? API_COMPLETION : API_CHAT;
    size_t room = size > 1 && data[1] != 0 ? data[1] * 8u : ROOM;
    size_t n = size > 2 ? size - 2 : 0;
    char *body, *memory;
    struct api_request r;
    struct api_text line;

    n = n < MOST ? n : MOST;
    body = malloc(n + 1);
    memory = malloc(room);
    must(body != NULL && memory != NULL);
    memcpy(body, data + (size > 2 ? 2 : 0), n);
    body[n] = '\0';
    api_text_open(&line, memory, room);
    if (api_request_read(&r, kind, body, n, 1, &line)) {
        must(!line.full && line.n < room && line.text[line.n] == '\0');
        check_line(&r, &line);
    } else {
        must(r.error_message[0] != '\0' && strlen(r.error_message) < sizeof r.error_message);
    }
    free(memory);
    free(body);
    return 0;
}
