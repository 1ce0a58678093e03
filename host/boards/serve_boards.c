/* The queue of `ingot serve` for boards, and the choice of a board for each job. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/boards/serve_boards_private.h"
#include "host/line/serial_socket.h"

enum {
    FIRST_MS = 60000,  /* time to wait for the first board's answer */
    NOBODY_MS = 20000, /* time that a request waits while there is no board */
    NEWS_MS = 4000,    /* age up to which a board's report counts as new */
};

struct serve_pool serve_pool;

bool serve_boards_is_line(const char *word)
{
    struct stat s;

    return serial_socket_is(word) || strncmp(word, "/dev/", 5) == 0 ||
           (stat(word, &s) == 0 && S_ISCHR(s.st_mode));
}

static void wake_all(void)
{
    uint64_t one = 1;

    for (uint32_t i = 0; i < serve_pool.n; i++) {
        (void)!write(serve_pool.boards[i].wake, &one, sizeof one);
    }
}

bool serve_pool_is_closing(void)
{
    bool closing;

    pthread_mutex_lock(&serve_pool.lock);
    closing = serve_pool.closing;
    pthread_mutex_unlock(&serve_pool.lock);
    return closing;
}

void serve_pool_set_phase(struct board *b, enum phase phase)
{
    pthread_mutex_lock(&serve_pool.lock);
    b->phase = phase;
    pthread_mutex_unlock(&serve_pool.lock);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* End a job, which then belongs only to the server; frees w. */
void serve_pool_end(struct waiting *w, const struct api_error *e)
{
    struct serve_job *j = w->job;

    pthread_mutex_lock(&j->lock);
    if (e != NULL) {
        j->of.error = *e;
    } else if (j->of.text.failed || j->of.scores.failed) {
        (void)api_refuse(&j->of.error, 500, NULL, NULL, "out of memory");
    }
    j->of.done = true;
    pthread_mutex_lock(&serve_pool.lock);
    serve_pool.stats.requests++;
    serve_pool.stats.failed += j->of.error.status != 0;
    serve_pool.stats.cancelled += j->cancelled;
    serve_pool.stats.prompt_tokens += j->of.prompt_tokens;
    serve_pool.stats.cached_tokens += j->of.cached_tokens;
    serve_pool.stats.reply_tokens += j->of.reply_tokens;
    pthread_mutex_unlock(&serve_pool.lock);
    pthread_mutex_unlock(&j->lock);
    serve_job_release(j);
    free(w);
    serve_pool.wake.call(serve_pool.wake.context);
}

void serve_pool_end_with(struct waiting *w, int status, const char *text)
{
    struct api_error e = { .status = 0 };

    (void)api_refuse(&e, status, NULL, NULL, "%s", text);
    serve_pool_end(w, &e);
}

/* True if the board is best for a request: no other idle board has more of the request in its
 * context, or has equally much and has been idle for longer. The lock is held. */
static bool is_best(const struct board *b, const struct board_past *wanted)
{
    uint32_t mine = board_past_shared(&b->past, wanted);

    for (uint32_t i = 0; i < serve_pool.n; i++) {
        const struct board *other = &serve_pool.boards[i];
        uint32_t theirs = board_past_shared(&other->past, wanted);

        if (other != b && other->phase == IDLE &&
            (theirs > mine || (theirs == mine && other->used < b->used))) {
            return false;
        }
    }
    return true;
}

bool serve_pool_differs(const struct board *b)
{
    return strncmp(serve_pool.model, b->state.model, sizeof serve_pool.model) != 0;
}

/* Take the first job in the queue that this board should do, and mark it as running. NULL: there is
 * none. */
struct waiting *serve_pool_take(struct board *b)
{
    struct waiting **at = &serve_pool.first, *w = NULL;

    pthread_mutex_lock(&serve_pool.lock);
    while (*at != NULL && !is_best(b, &(*at)->past)) {
        at = &(*at)->next;
    }
    if (*at != NULL && !serve_pool_differs(b)) {
        w = *at;
        *at = w->next;
        serve_pool.stats.waiting--;
        serve_pool.stats.running++;
        b->phase = AT_WORK;
        b->past = w->past;
        b->used = ++serve_pool.n_taken;
    }
    pthread_mutex_unlock(&serve_pool.lock);
    return w;
}

/* End a job that was meant for a model that is no longer loaded. */
static void end_outdated(struct waiting *w)
{
    serve_pool_end_with(w, 503, "another model was loaded meanwhile: send the request again");
}

/* Put back a job that has lost its board: the job waits again, before the others. */
void serve_pool_put_back(struct waiting *w)
{
    bool outdated;

    pthread_mutex_lock(&serve_pool.lock);
    outdated = w->choice != serve_pool.choice;
    if (!outdated) {
        w->next = serve_pool.first;
        serve_pool.first = w;
        serve_pool.stats.waiting++;
    }
    pthread_mutex_unlock(&serve_pool.lock);
    if (outdated) {
        end_outdated(w);
    }
    wake_all();
}

/* Take the first job out of the queue if no board will do it: always if `all`, otherwise if it has
 * waited too long while there was no board. NULL: no such job. */
static struct waiting *take_hopeless(bool all)
{
    struct waiting *w = NULL;
    bool there = false;

    pthread_mutex_lock(&serve_pool.lock);
    for (uint32_t i = 0; i < serve_pool.n; i++) {
        there = there || serve_pool.boards[i].phase >= IDLE ||
                serve_pool.boards[i].patient_ms > serial_millis();
    }
    if (serve_pool.first != NULL &&
        (all || (!there && serial_millis() - serve_pool.first->since_ms > NOBODY_MS))) {
        w = serve_pool.first;
        serve_pool.first = w->next;
        serve_pool.stats.waiting--;
    }
    pthread_mutex_unlock(&serve_pool.lock);
    return w;
}

void serve_pool_end_hopeless(bool all)
{
    struct waiting *w;

    while ((w = take_hopeless(all)) != NULL) {
        serve_pool_end_with(w, 503, all ? "the server is shutting down" : "no board is connected");
    }
}

/* ---- from the server's thread ---------------------------------------------------------------- */

static bool submit(void *context, struct serve_job *j)
{
    struct waiting *w = calloc(1, sizeof *w), **at = &serve_pool.first;
    bool room = w != NULL;

    (void)context;
    if (room) {
        serve_job_hold(j);
        w->job = j;
        w->since_ms = serial_millis();
        board_past_of(&w->past, &j->of.request);
        pthread_mutex_lock(&serve_pool.lock);
        room = serve_pool.stats.waiting < SERVE_WAITING_MOST;
        w->choice = serve_pool.choice;
        while (room && *at != NULL) {
            at = &(*at)->next;
        }
        if (room) {
            *at = w;
            serve_pool.stats.waiting++;
        }
        pthread_mutex_unlock(&serve_pool.lock);
    }
    if (!room && w != NULL) {
        serve_job_release(j);
        free(w);
    }
    wake_all();
    return room;
}

/* Take the first job in the queue that was meant for another model. NULL: there is none. */
static struct waiting *take_outdated(void)
{
    struct waiting *w;

    pthread_mutex_lock(&serve_pool.lock);
    w = serve_pool.first; /* older jobs are first in the queue */
    if (w != NULL && w->choice != serve_pool.choice) {
        serve_pool.first = w->next;
        serve_pool.stats.waiting--;
    } else {
        w = NULL;
    }
    pthread_mutex_unlock(&serve_pool.lock);
    return w;
}

/* Let each board load a model, after its running reply is finished. */
static void load(void *context, const char *model)
{
    struct waiting *w;

    (void)context;
    pthread_mutex_lock(&serve_pool.lock);
    snprintf(serve_pool.model, sizeof serve_pool.model, "%s", model);
    serve_pool.choice++;
    pthread_mutex_unlock(&serve_pool.lock);
    while ((w = take_outdated()) != NULL) {
        end_outdated(w);
    }
    wake_all();
}

/* Take a job out of the queue. Returns NULL if it is not there. */
static struct waiting *take_job(const struct serve_job *j)
{
    struct waiting **at = &serve_pool.first, *w;

    pthread_mutex_lock(&serve_pool.lock);
    while (*at != NULL && (*at)->job != j) {
        at = &(*at)->next;
    }
    w = *at;
    if (w != NULL) {
        *at = w->next;
        serve_pool.stats.waiting--;
    }
    pthread_mutex_unlock(&serve_pool.lock);
    return w;
}

/* Cancel a job: a waiting one makes room at once; a running one is stopped by its board. */
static void cancel(void *context, struct serve_job *j)
{
    struct waiting *w;

    (void)context;
    serve_job_cancel(j);
    w = take_job(j);
    if (w != NULL) {
        serve_pool_end(w, NULL);
    }
    wake_all();
}

/* Somebody reads the state: let the board report again, so that the next reader gets a new state.
 * The lock is held. */
static void want_news(struct board *b)
{
    b->curious = b->curious || serial_millis() - b->told_ms > NEWS_MS;
}

static void stats(void *context, struct serve_stats *s)
{
    (void)context;
    pthread_mutex_lock(&serve_pool.lock);
    *s = serve_pool.stats;
    s->boards = serve_pool.n;
    for (uint32_t i = 0; i < serve_pool.n; i++) {
        const struct board *board = &serve_pool.boards[i];

        s->board[i] = board->state;
        s->board[i].line = board->path;
        s->board[i].there = board->phase >= IDLE;
        s->boards_there += s->board[i].there;
        want_news(&serve_pool.boards[i]);
    }
    pthread_mutex_unlock(&serve_pool.lock);
}

static bool look(void *context, uint32_t i, struct serve_look *l)
{
    struct board *board = &serve_pool.boards[i];

    (void)context;
    if (i >= serve_pool.n) {
        return false;
    }
    pthread_mutex_lock(&serve_pool.lock);
    l->board = board->state;
    l->board.line = board->path;
    l->board.there = board->phase >= IDLE;
    memcpy(l->plan, board->plan, sizeof l->plan);
    memcpy(l->stats, board->stats, sizeof l->stats);
    memcpy(l->models, board->models, sizeof l->models);
    want_news(board);
    pthread_mutex_unlock(&serve_pool.lock);
    return true;
}

/* Wait until a board has reported its model. */
static bool wait_for_model(char *model)
{
    uint64_t begin = serial_millis(), said = begin;

    model[0] = '\0';
    while (model[0] == '\0' && serial_millis() - begin < FIRST_MS) {
        (void)poll(NULL, 0, 20);
        pthread_mutex_lock(&serve_pool.lock);
        memcpy(model, serve_pool.model, API_MODEL_BYTES);
        pthread_mutex_unlock(&serve_pool.lock);
        if (serial_millis() - said > 5000) {
            said = serial_millis();
            fprintf(stderr, "waiting for a board, %u s\n", (unsigned)((said - begin) / 1000));
        }
    }
    if (model[0] == '\0') {
        fprintf(
            stderr,
            "ingot: no board answers: check its power and its model, that TX is at RX, and that --baud is its rate\n");
    }
    return model[0] != '\0';
}

bool serve_boards_open(struct serve_backend *b, const char *const *lines, uint32_t n, uint32_t baud,
                       struct serve_wake wake, char *model)
{
    bool good = true, opened = false;

    signal(SIGPIPE, SIG_IGN); /* if a board is gone, a write to its socket must only fail */
    pthread_mutex_init(&serve_pool.lock, NULL);
    serve_pool.n = n;
    serve_pool.baud = baud;
    serve_pool.wake = wake;
    *b = (struct serve_backend){ &serve_pool, submit, cancel, stats, look, load };
    for (uint32_t i = 0; i < n; i++) {
        struct board *board = &serve_pool.boards[i];

        board->path = lines[i];
        api_figures_clear(&board->state.figures);
        board->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        good = good && board->wake >= 0;
    }
    for (uint32_t i = 0; good && i < n; i++) {
        struct board *board = &serve_pool.boards[i];

        /* Try to open each line here first, so that a wrong name is reported at once. */
        if (!serial_open(&board->line, board->path, baud)) {
            fprintf(stderr, "ingot: %s\n", board->line.error_message);
        } else {
            close(board->line.fd);
            opened = true;
        }
        board->started = pthread_create(&board->thread, NULL, serve_board_work, board) == 0;
        good = board->started;
    }
    if (!good) {
        fprintf(stderr, "ingot: no thread could be started\n");
    }
    if (good && opened && wait_for_model(model)) {
        return true;
    }
    serve_boards_close(b);
    return false;
}

void serve_boards_close(struct serve_backend *b)
{
    (void)b;
    pthread_mutex_lock(&serve_pool.lock);
    serve_pool.closing = true;
    pthread_mutex_unlock(&serve_pool.lock);
    wake_all();
    for (uint32_t i = 0; i < serve_pool.n; i++) {
        if (serve_pool.boards[i].started) {
            pthread_join(serve_pool.boards[i].thread, NULL);
        }
        close(serve_pool.boards[i].wake);
    }
    serve_pool_end_hopeless(true);
}
