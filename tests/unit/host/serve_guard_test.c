/* Access to `ingot serve`: names of this computer, the server's own page, pages and names that the
 * owner allows, the token; and the page of a path. */
#include <string.h>

#include "host/serve/serve_guard.h"
#include "host/serve/serve_listen.h"
#include "host/serve/serve_pages.h"
#include "tests/unit/tap.h"

static int status_of(const struct serve_guard *g, const char *host, const char *origin,
                     const char *authorization)
{
    const struct serve_caller c = {
        .path = "/models", .host = host, .origin = origin, .authorization = authorization
    };
    struct api_error e = { .status = 0 };

    return serve_may_ask(&c, g, &e) ? 200 : e.status;
}

static void check_hosts(void)
{
    static const char *const good[] = { "localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1",
                                        "127.1.2.3", "[::1]",          "[::1]:80" };
    static const char *const bad[] = { "",
                                       ":80",
                                       "localhost.evil.example",
                                       "evil.example",
                                       "127.0.0.1.evil.example",
                                       "127.evil",
                                       "localhost:",
                                       "localhost:8x",
                                       "localhost:0",
                                       "localhost:99999",
                                       "localhost@evil",
                                       "[::1",
                                       "[::2]",
                                       "127.0.0.1 evil",
                                       "128.0.0.1",
                                       "127.0.0" };
    struct serve_guard g = { .token = NULL };

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        OK(status_of(&g, good[i], NULL, "") == 200, "a name of this computer is accepted: %s",
           good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        OK(status_of(&g, bad[i], NULL, "") == 403, "another name is refused: %s", bad[i]);
    }
    OK(status_of(&g, NULL, NULL, "") == 200 && status_of(&g, NULL, "http://evil", "") == 403 &&
           status_of(&g, NULL, "http://", "") == 403,
       "a request that names no host is accepted, unless a page sends it");
    OK(serve_allow_host(&g, "Board.lan") && serve_allow_host(&g, "other.lan:8080") &&
           status_of(&g, "board.LAN:99", NULL, "") == 200 &&
           status_of(&g, "other.lan:8080", NULL, "") == 200 &&
           status_of(&g, "other.lan", NULL, "") == 403,
       "names that the owner allows are accepted");
    OK(!serve_allow_host(&g, "http://a") && !serve_allow_host(&g, "*") &&
           !serve_allow_host(&g, "") && !serve_allow_host(&g, "a b"),
       "a text that is not a name is not allowed");
}

static void check_origins(void)
{
    static const struct {
        const char *origin, *host;
        int status;
    } cases[] = {
        { "http://localhost:8080", "localhost:8080", 200 },
        { "https://localhost:8080", "localhost:8080", 200 },
        { "HTTP://LocalHost", "localhost", 200 },
        { "http://localhost:80", "localhost", 200 },
        { "http://localhost", "localhost:80", 200 },
        { "https://localhost", "localhost:443", 200 },
        { "http://[::1]:1", "[::1]:1", 200 },
        { "https://localhost", "localhost:80", 403 },
        { "http://localhost", "localhost:443", 403 },
        { "http://localhost:8081", "localhost:8080", 403 },
        { "http://127.0.0.1:8080", "localhost:8080", 403 },
        { "ftp://localhost", "localhost", 403 },
        { "null", "localhost", 403 },
        { "", "localhost", 403 },
        { "http://", "localhost", 403 },
        { "http://localhost@evil", "localhost", 403 },
        { "http://localhost/", "localhost", 403 },
        { "http://localhost http://evil", "localhost", 403 },
        { "localhost", "localhost", 403 },
    };
    struct serve_guard g = { .token = NULL };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        OK(status_of(&g, cases[i].host, cases[i].origin, "") == cases[i].status,
           "the status is %d for '%s' at %s", cases[i].status, cases[i].origin, cases[i].host);
    }
    OK(serve_allow_origin(&g, "http://App.example:3000") &&
           serve_allow_origin(&g, "https://app.example") &&
           serve_allow_origin(&g, "chrome-extension://abcd") &&
           serve_is_allowed("HTTP://app.example:3000", &g) &&
           serve_is_allowed("https://app.example:443", &g) &&
           serve_is_allowed("chrome-extension://abcd", &g) &&
           !serve_is_allowed("http://app.example", &g) &&
           !serve_is_allowed("http://app.example:3001", &g) &&
           !serve_is_allowed("https://app.example:3000", &g) && !serve_is_allowed("null", &g) &&
           !serve_is_allowed("chrome-extension://abce", &g),
       "origins that the owner allows are accepted");
    OK(!serve_allow_origin(&g, "app.example") && !serve_allow_origin(&g, "http://a/b") &&
           !serve_allow_origin(&g, "http://") && !serve_allow_origin(&g, ""),
       "a text that is not an origin is not allowed");
    OK(serve_allow_origin(&g, "*") && serve_is_allowed("http://any", &g) &&
           serve_is_allowed("null", &g),
       "* allows every origin");
    while (serve_allow_origin(&g, "null")) {
    }
    OK(g.n_origins == SERVE_ALLOWED_MOST, "only as many origins are allowed as there is room for");
}

static void check_tokens(void)
{
    static const char *const good[] = { "Bearer abc", "bearer abc", "BEARER    abc" };
    static const char *const bad[] = {
        "",          "abc",         "Bearer",    "Bearer ",     "Bearerabc",
        "Bearer ab", "Bearer abcd", "Basic abc", "Bearer\tabc", "Bearer ABC"
    };
    struct serve_guard g = { .token = "abc" };

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        OK(status_of(&g, "any.example", NULL, good[i]) == 200, "the token is accepted: %s",
           good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        OK(status_of(&g, "any.example", NULL, bad[i]) == 401, "another token is refused: %s",
           bad[i]);
    }
    for (int i = 0; i < 4; i++) {
        static const char *const keys[] = { "abc", "", "ab", "abcd" };
        const struct serve_caller c = {
            .path = "/messages", .host = "any.example", .authorization = "", .key = keys[i]
        };
        struct api_error e = { .status = 0 };

        OK(serve_may_ask(&c, &g, &e) == (i == 0), "only the token is accepted as x-api-key: %s",
           keys[i]);
    }
}

static void check_pages(void)
{
    static const struct {
        const char *path;
        enum serve_page_kind page;
    } cases[] = {
        { "/", SERVE_PAGE_HOME },
        { "//", SERVE_PAGE_HOME },
        { "/health/", SERVE_PAGE_HEALTH },
        { "/v1/models", SERVE_PAGE_MODELS },
        { "/models", SERVE_PAGE_CARDS },
        { "/v1/models/", SERVE_PAGE_MODELS },
        { "/ws", SERVE_PAGE_SOCKET },
        { "/v1/ws", SERVE_PAGE_NONE },
        { "/v1", SERVE_PAGE_NONE },
        { "/v1/", SERVE_PAGE_NONE },
        { "", SERVE_PAGE_NONE },
        { "/chat/completions", SERVE_PAGE_ASK },
        { "/v1/embeddings//", SERVE_PAGE_ASK },
        { "/v1/v1/models", SERVE_PAGE_NONE },
        { "/healthy", SERVE_PAGE_NONE },
        { "/v1/metrics", SERVE_PAGE_NONE },
        { "/responses/", SERVE_PAGE_ASK },
        { "/v1/messages", SERVE_PAGE_ASK },
        { "/v1/messages/batches", SERVE_PAGE_NONE },
        { "/api/chat/", SERVE_PAGE_ASK },
        { "/api/tags", SERVE_PAGE_TAGS },
        { "/api/pull", SERVE_PAGE_NONE },
        { "/v1/api/chat", SERVE_PAGE_NONE },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        OK(serve_page_find(cases[i].path)->page == cases[i].page, "the page of %s is found",
           cases[i].path);
    }
    OK(serve_listen_is_loopback("127.0.0.9") && serve_listen_is_loopback("::1") &&
           serve_listen_is_loopback("[::1]") && !serve_listen_is_loopback("::") &&
           !serve_listen_is_loopback("0.0.0.0") && !serve_listen_is_loopback("192.168.1.1"),
       "addresses that nobody else reaches are recognized");
}

int main(void)
{
    check_hosts();
    check_origins();
    check_tokens();
    check_pages();
    return tap_done();
}
