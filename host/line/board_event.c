#include "host/line/board_event.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/api/api_line.h"
#include "runtime/api/api_memory.h"

static enum board_event_kind kind_of(const char *event)
{
    static const struct {
        const char *name;
        enum board_event_kind kind;
    } kinds[] = { { "ready", BOARD_READY },         { "token", BOARD_TOKEN },
                  { "error", BOARD_ERROR },         { "usage", BOARD_USAGE },
                  { "embedding", BOARD_EMBEDDING }, { "done", BOARD_DONE },
                  { "plan", BOARD_PLAN },           { "stats", BOARD_STATS },
                  { "model", BOARD_MODEL },         { "hello", BOARD_HELLO } };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(event, kinds[i].name) == 0) {
            return kinds[i].kind;
        }
    }
    return BOARD_OTHER;
}

static bool is_true(const struct api_json *event, const char *name)
{
    return api_json_is(api_json_get(event, name), JSON_TRUE);
}

/* Copy the line and read its values; each takes at least two bytes of the line. NULL if it is not
 * JSON. */
static const struct api_json *read_line(struct board_event *e, const char *line, size_t bytes)
{
    size_t values = (bytes / 2 + 2) * sizeof(struct api_json), at;
    struct api_json *root = NULL;
    struct api_memory m;
    char *text;

    e->memory = malloc(values + bytes + 1);
    if (e->memory == NULL) {
        return NULL;
    }
    text = (char *)e->memory + values;
    memcpy(text, line, bytes);
    text[bytes] = '\0';
    api_memory_open(&m, e->memory, values);
    return api_json_read(&root, text, bytes, &m, &at) == API_JSON_GOOD ? root : NULL;
}

bool board_event_read(struct board_event *e, const char *line, size_t bytes)
{
    const char *event;

    memset(e, 0, sizeof *e);
    if (bytes == 0 || line[0] != '{') {
        return false;
    }
    e->root = read_line(e, line, bytes);
    event = api_json_text_of(e->root, "event");
    if (event == NULL) {
        board_event_free(e);
        return false;
    }
    e->kind = kind_of(event);
    e->id = api_line_number(e->root, "id");
    e->text = api_json_text_of(e->root, "text");
    e->name = api_json_text_of(e->root, "name");
    e->model = api_json_text_of(e->root, "model");
    e->board = api_json_text_of(e->root, "board");
    e->reason = api_json_text_of(e->root, "reason");
    e->prompt_tokens = api_line_count(e->root, "prompt_tokens");
    e->cached_tokens = api_line_count(e->root, "cached_tokens");
    e->completion_tokens = api_line_count(e->root, "completion_tokens");
    e->passes = api_line_count(e->root, "decode_passes");
    e->line_limit = api_line_count(e->root, "line_limit_bytes");
    e->tokens = api_line_count(e->root, "tokens");
    e->knows_penalties = is_true(e->root, "penalties");
    e->knows_said = is_true(e->root, "said");
    return true;
}

void board_event_free(struct board_event *e)
{
    free(e->memory);
    memset(e, 0, sizeof *e);
}
