/* Parallel replies of several sessions. */
#include "library/library.h"

_Static_assert((int)INGOT_MOST_SESSIONS == (int)GROUP_MOST, "both limits of sessions are the same");

/* One reply, as its sink knows it. */
struct job {
    const struct ingot_reply *reply;
    const struct ingot_generate_params *params;
    struct generate_params inner;
    struct generate_sink sink;
    bool stopped; /* a callback asked to stop */
};

struct jobs {
    struct ingot_model *model;
    uint32_t n;
    struct job list[INGOT_MOST_SESSIONS];
    struct ingot_generate_params defaults;
};

/* ---- arguments ------------------------------------------------------------------------------ */

static bool is_twice(const struct ingot_reply *replies, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (replies[k].session == replies[i].session) {
            return true;
        }
    }
    return false;
}

static enum ingot_error check(struct jobs *j, const struct ingot_reply *reply)
{
    const struct ingot_generate_params *p = reply->params;
    enum ingot_error error = library_check_session(reply->session);

    if (error != INGOT_OK) {
        return error;
    }
    if (reply->session->model != j->model) {
        return library_refuse(j->model, INGOT_BAD_ARGUMENT, "a session belongs to another model");
    }
    if (p != NULL && !library_good_params(p)) {
        return library_refuse(j->model, INGOT_BAD_ARGUMENT,
                              "a parameter of the sampler or a stop string is out of bounds");
    }
    if (reply->session->session.n_ids == 0) {
        return library_refuse(j->model, INGOT_WRONG_ORDER, "a session is empty");
    }
    return INGOT_OK;
}

static enum ingot_error check_all(struct jobs *j, const struct ingot_reply *replies, uint32_t n)
{
    if (replies == NULL || n == 0 || n > INGOT_MOST_SESSIONS || replies[0].session == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    j->model = replies[0].session->model;
    for (uint32_t i = 0; i < n; i++) {
        enum ingot_error error = check(j, &replies[i]);

        if (error != INGOT_OK) {
            return error;
        }
        if (is_twice(replies, i)) {
            return library_refuse(j->model, INGOT_BAD_ARGUMENT, "a session is listed twice");
        }
    }
    return INGOT_OK;
}

/* ---- the replies ---------------------------------------------------------------------------- */

static void hand_on(void *context, const char *text, size_t bytes)
{
    struct job *job = context;

    if (!job->stopped && job->reply->text != NULL && bytes != 0) {
        job->stopped = !job->reply->text(job->reply->context, text, bytes);
    }
}

static enum ingot_error begin(struct jobs *j, uint32_t i, const struct ingot_reply *reply)
{
    struct replies *r = &j->model->replies;
    struct job *job = &j->list[i];
    struct sampler_params sampler;
    enum ingot_error error = library_leave_pending(reply->session);

    if (error != INGOT_OK) {
        return error;
    }
    job->reply = reply;
    job->params = reply->params != NULL ? reply->params : &j->defaults;
    job->stopped = false;
    job->sink = (struct generate_sink){ .context = job, .text = hand_on };
    library_set_params(reply->session, job->params, NULL, &job->inner);
    sampler = library_sampler(job->params);
    reply->session->session.error_message[0] = '\0';
    r->slots[i].session = &reply->session->session;
    replies_begin(r, i, &job->inner, &sampler, &job->sink);
    return INGOT_OK;
}

/* End the replies whose callbacks asked to stop. */
static void leave_stopped(struct jobs *j)
{
    for (uint32_t i = 0; i < j->n; i++) {
        struct job *job = &j->list[i];

        if (!j->model->replies.slots[i].busy) {
            continue;
        }
        if (!job->stopped && job->params->go_on != NULL) {
            job->stopped = !job->params->go_on(job->reply->context);
        }
        if (job->stopped) {
            replies_leave(&j->model->replies, i);
        }
    }
}

static enum err run(struct jobs *j)
{
    enum err e = ERR_OK;

    leave_stopped(j);
    while (e == ERR_OK && replies_busy(&j->model->replies) != 0) {
        e = replies_pass(&j->model->replies, NULL);
        leave_stopped(j);
    }
    return e;
}

static void settle(struct jobs *j, struct ingot_reply *replies, enum err e)
{
    for (uint32_t i = 0; i < j->n; i++) {
        struct reply_slot *p = &j->model->replies.slots[i];
        bool whole = !p->busy;

        replies_leave(&j->model->replies, i);
        library_report(&p->result, j->list[i].stopped, &replies[i].result);
        if (whole && !j->list[i].stopped && p->result.end == GENERATE_STOP) {
            generate_keep_shown(p->session, &p->result);
        }
        if (!whole && e != ERR_OK) {
            replies[i].result.end = INGOT_END_CALLER;
        }
    }
}

enum ingot_error ingot_generate_parallel(struct ingot_reply *replies, uint32_t n)
{
    struct jobs j = { .n = 0 };
    enum ingot_error error = check_all(&j, replies, n);
    enum err e;

    if (error != INGOT_OK) {
        return error;
    }
    (void)ingot_model_defaults(j.model, &j.defaults);
    j.model->replies = (struct replies){ .n = n };
    for (uint32_t i = 0; i < n && error == INGOT_OK; i++, j.n++) {
        error = begin(&j, i, &replies[i]);
    }
    if (error != INGOT_OK) {
        return error;
    }
    j.model->busy = true;
    e = run(&j);
    j.model->busy = false;
    settle(&j, replies, e);
    return library_failed(j.model, e, j.model->replies.error_message);
}
