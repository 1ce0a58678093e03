#include "host/serve/serve_pages.h"

#include <string.h>
#include <time.h>

#include "host/api/serve_answer.h"
#include "host/serve/serve_load.h"
#include "host/serve/serve_page.h"
#include "host/serve/serve_state.h"

static const struct serve_page_row rows[] = {
    { "/", SERVE_PAGE_HOME, false, false, API_CHAT, SERVE_COMPLETIONS },
    { "/health", SERVE_PAGE_HEALTH, false, false, API_CHAT, SERVE_COMPLETIONS },
    { "/models", SERVE_PAGE_MODELS, true, false, API_CHAT, SERVE_COMPLETIONS },
    { "/models", SERVE_PAGE_CARDS, false, false, API_CHAT, SERVE_COMPLETIONS },
    { "/models/load", SERVE_PAGE_LOAD, false, true, API_CHAT, SERVE_COMPLETIONS },
    { "/boards", SERVE_PAGE_BOARDS, false, false, API_CHAT, SERVE_COMPLETIONS },
    { "/metrics", SERVE_PAGE_METRICS, false, false, API_CHAT, SERVE_COMPLETIONS },
    { "/ws", SERVE_PAGE_SOCKET, false, false, API_CHAT, SERVE_COMPLETIONS },
    { "/chat/completions", SERVE_PAGE_ASK, false, true, API_CHAT, SERVE_COMPLETIONS },
    { "/completions", SERVE_PAGE_ASK, false, true, API_CONTINUE, SERVE_COMPLETIONS },
    { "/embeddings", SERVE_PAGE_ASK, false, true, API_EMBED, SERVE_COMPLETIONS },
    { "/responses", SERVE_PAGE_ASK, false, true, API_CHAT, SERVE_RESPONSES },
    { "/messages", SERVE_PAGE_ASK, false, true, API_CHAT, SERVE_ANTHROPIC },
};

static const struct serve_page_row ollama[] = {
    { "/api/chat", SERVE_PAGE_ASK, false, true, API_CHAT, SERVE_OLLAMA_CHAT },
    { "/api/generate", SERVE_PAGE_ASK, false, true, API_CHAT, SERVE_OLLAMA_GENERATE },
    { "/api/embed", SERVE_PAGE_ASK, false, true, API_EMBED, SERVE_OLLAMA_EMBED },
    { "/api/embeddings", SERVE_PAGE_ASK, false, true, API_EMBED, SERVE_OLLAMA_EMBEDDINGS },
    { "/api/tags", SERVE_PAGE_TAGS, false, false, API_CHAT, SERVE_OLLAMA_CHAT },
    { "/api/ps", SERVE_PAGE_RUNNING, false, false, API_CHAT, SERVE_OLLAMA_CHAT },
    { "/api/version", SERVE_PAGE_VERSION, false, false, API_CHAT, SERVE_OLLAMA_CHAT },
    { "/api/show", SERVE_PAGE_SHOW, false, true, API_CHAT, SERVE_OLLAMA_CHAT },
};

static const struct serve_page_row no_ollama = { "",    SERVE_PAGE_NONE, false,
                                                 false, API_CHAT,        SERVE_OLLAMA_CHAT };
static const struct serve_page_row no_messages = { "",    SERVE_PAGE_NONE, false,
                                                   false, API_CHAT,        SERVE_ANTHROPIC };
const struct serve_page_row serve_page_heartbeat = { "/",      SERVE_PAGE_HEARTBEAT, false, false,
                                                     API_CHAT, SERVE_OLLAMA_CHAT };
static const struct serve_page_row one_model = {
    "/models/NAME", SERVE_PAGE_MODEL, true, false, API_CHAT, SERVE_COMPLETIONS
};
static const struct serve_page_row none = { "",    SERVE_PAGE_NONE, false,
                                            false, API_CHAT,        SERVE_COMPLETIONS };

/* True for pages that also have a path with /v1 in front: those of OpenAI's API, and those for
 * administration. */
static bool has_v1(const struct serve_page_row *row)
{
    return row->v1 || row->page == SERVE_PAGE_ASK || row->page == SERVE_PAGE_HEALTH;
}

/* Finds a page of Ollama's API; path (n bytes) does not end with a slash. */
static const struct serve_page_row *find_ollama(const char *path, size_t n)
{
    for (size_t i = 0; i < sizeof ollama / sizeof ollama[0]; i++) {
        if (strlen(ollama[i].path) == n && strncmp(ollama[i].path, path, n) == 0) {
            return &ollama[i];
        }
    }
    return &no_ollama;
}

/* True for a page below /messages, which may have one or two /v1 in front of it. */
static bool is_anthropic(const char *path)
{
    for (unsigned i = 0; i < 2 && strncmp(path, "/v1/", 4) == 0; i++) {
        path += 3;
    }
    return strncmp(path, "/messages", 9) == 0;
}

const struct serve_page_row *serve_page_find(const char *path)
{
    bool v1 = strncmp(path, "/v1/", 4) == 0;
    size_t n;

    path += v1 ? 3 : 0;
    n = strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    if (!v1 && strncmp(path, "/api/", 5) == 0) {
        return find_ollama(path, n);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strlen(rows[i].path) == n && strncmp(rows[i].path, path, n) == 0 &&
            (v1 ? has_v1(&rows[i]) : !rows[i].v1)) {
            return &rows[i];
        }
    }
    if (strncmp(path, "/models/", 8) == 0 && n > 8) {
        return &one_model;
    }
    return is_anthropic(path) ? &no_messages : &none;
}

const char *serve_page_methods(const struct serve_page_row *row)
{
    return row != NULL && row->posts ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
}

/* Reads the name at the end of a path, which was decoded and does not end with a slash. */
static void read_name(char name[API_MODEL_BYTES], const char *path)
{
    size_t n = strlen(path);

    while (n != 0 && path[n - 1] == '/') {
        n--;
    }
    n = n < API_MODEL_BYTES ? n : 0; /* longer than any model's name */
    memcpy(name, path, n);
    name[n] = '\0';
}

/* True if the path (of SERVE_PAGE_MODEL) names the model, with or without .ingot. */
static bool names_model(const char *path, const char *model)
{
    size_t n = strlen(model), ending = strlen(".ingot");
    char name[API_MODEL_BYTES];

    read_name(name, strstr(path, "/models/") + strlen("/models/"));
    return strcmp(name, model) == 0 ||
           (n > ending && strcmp(model + n - ending, ".ingot") == 0 && strlen(name) == n - ending &&
            memcmp(name, model, n - ending) == 0);
}

static bool refuse_path(struct api_error *e, const char *path)
{
    size_t n = strlen(path);

    if (strncmp(path, "/api/", 5) == 0) {
        return api_refuse(e, 404, NULL, "not_found",
                          "there is no page %.200s: this server has /api/chat, /api/generate, "
                          "/api/embed, /api/tags, /api/ps, /api/show and /api/version, and the "
                          "model of its command line",
                          path);
    }
    if (strstr(path, "/responses") != NULL) {
        return api_refuse(e, 404, NULL, "not_found",
                          "there is no page %.200s: this server keeps no responses; POST "
                          "/v1/responses makes one",
                          path);
    }
    if (is_anthropic(path)) {
        return api_refuse(e, 404, NULL, "not_found",
                          "there is no page %.200s: this server has POST /v1/messages of "
                          "Anthropic's API, whose base address does not end in /v1",
                          path);
    }
    return api_refuse(e, 404, NULL, "not_found",
                      "there is no page %.200s%s: the base address of OpenAI's API ends in /v1",
                      path, n > 200 ? "..." : "");
}

bool serve_page_takes(const struct serve_page_row *row, const char *path, const char *model,
                      bool reads, bool posts, bool asks, struct api_error *e)
{
    if (row->page == SERVE_PAGE_NONE) {
        return refuse_path(e, path);
    }
    if (row->page == SERVE_PAGE_MODEL && reads && !names_model(path, model)) {
        return api_refuse(e, 404, "model", "model_not_found",
                          "there is no such model here; /v1/models lists what there is");
    }
    return asks || (row->posts ? posts : reads) ||
           api_refuse(e, 405, NULL, NULL, "the page %s takes the method %s", row->path,
                      row->posts ? "POST" : "GET");
}

static void write_metrics(struct api_text *out, struct serve_backend *b, uint64_t n_left)
{
    struct serve_stats s;

    b->stats(b->context, &s);
    s.requests += n_left;
    s.cancelled += n_left;
    serve_state_metrics(out, &s);
}

const char *serve_page_write(struct api_text *out, enum serve_page_kind page,
                             struct serve_backend *b, const char *model, uint64_t n_left)
{
    const char *text;
    size_t bytes;

    switch (page) {
    case SERVE_PAGE_HOME:
        text = serve_page(&bytes);
        (void)serve_text_add(out, text, bytes);
        return "text/html; charset=utf-8";
    case SERVE_PAGE_HEARTBEAT: (void)serve_text_say(out, "Ollama is running"); return "text/plain";
    case SERVE_PAGE_VERSION:
    case SERVE_PAGE_TAGS:
    case SERVE_PAGE_RUNNING: serve_ollama_page(out, page, b, model, (int64_t)time(NULL)); break;
    case SERVE_PAGE_METRICS: write_metrics(out, b, n_left); return "text/plain; version=0.0.4";
    case SERVE_PAGE_MODELS: serve_answer_models(out, model, (int64_t)time(NULL)); break;
    case SERVE_PAGE_MODEL: serve_answer_model(out, model, (int64_t)time(NULL)); break;
    case SERVE_PAGE_CARDS: serve_load_list(out, b, model); break;
    case SERVE_PAGE_BOARDS: serve_state_boards(out, b); break;
    default: (void)serve_text_say(out, "{\"status\":\"ok\"}\n"); break;
    }
    return "application/json";
}

bool serve_page_post(struct api_text *out, enum serve_page_kind page, struct serve_backend *b,
                     const struct api_text *body, char *model, struct api_error *e)
{
    if (page == SERVE_PAGE_SHOW) {
        serve_ollama_show(out, b, (int64_t)time(NULL));
        return true;
    }
    return serve_load(out, b, body, model, e);
}
