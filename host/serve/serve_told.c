#include "host/serve/serve_told.h"

#include <stdio.h>
#include <string.h>

#include "runtime/api/api_line.h"
#include "runtime/chat/chat_json.h"
#include "runtime/console/console_json.h"

static void put_char(void *context, char c)
{
    struct serve_told *t = context;

    if (t->text == NULL || c == '\n' || c == '\r') {
        return;
    }
    if (t->n + 1 == SERVE_EVENT_BYTES) {
        t->failed = true;
        return;
    }
    t->text[t->n++] = c;
}

static int get_char(void *context)
{
    (void)context;
    return CONSOLE_CLOSED;
}

static void begin(struct serve_told *t, char text[SERVE_EVENT_BYTES])
{
    t->text = text;
    t->n = 0;
    t->failed = false;
}

static void end(struct serve_told *t)
{
    t->text[t->failed ? 0 : t->n] = '\0';
    t->text = NULL;
}

void serve_told_news(struct serve_told *t, const struct serve_stats *so_far,
                     const struct session *s, const struct api_figures *f)
{
    struct chat_totals totals = { .turns = (uint32_t)so_far->requests,
                                  .prompt_tokens = so_far->prompt_tokens,
                                  .new_tokens = so_far->reply_tokens };

    begin(t, t->look.stats);
    chat_json_stats(&t->console, &totals, s);
    end(t);
    if (f != NULL) {
        t->look.board.figures = *f;
        t->look.board.replies++;
    }
}

void serve_told_open(struct serve_told *t, struct app *app)
{
    struct console_setup setup = { .echo = false };
    struct serve_board_state *board = &t->look.board;
    struct serve_stats nothing = { .requests = 0 };

    memset(t, 0, sizeof *t);
    t->platform = *app->setup.platform;
    t->platform.console =
        (struct platform_console){ .context = t, .putc = put_char, .getc = get_char };
    t->platform.screen = (struct platform_screen){ .context = NULL };
    console_open(&t->console, &t->platform, &setup);
    console_speak_json(&t->console);
    snprintf(board->machine, sizeof board->machine, "%s", t->platform.name);
    snprintf(board->model, sizeof board->model, "%s", app_model_name(app));
    board->there = true;
    api_figures_clear(&board->figures);
    begin(t, t->look.plan);
    chat_json_plan(&t->console, &app->target.model);
    end(t);
    serve_told_news(t, &nothing, app_sequence(app, 0), NULL);
}

void serve_told_figures(struct serve_told *t, const struct session *s,
                        const struct generate_result *r, struct api_figures *f)
{
    uint64_t room[SERVE_EVENT_BYTES]; /* room for the values of an event, and more */
    char event[SERVE_EVENT_BYTES];
    struct api_json *done;
    struct api_memory m;
    size_t at;

    begin(t, event);
    chat_json_reply(&t->console, s, r, "end");
    end(t);
    api_memory_open(&m, room, sizeof room);
    (void)api_json_read(&done, event, strlen(event), &m, &at);
    api_line_figures(f, done);
    f->list[API_CONTEXT_LIMIT_TOKENS] = s->context;
}
