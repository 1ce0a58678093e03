/* Connections to a store, and the jobs that they do. lwIP's callbacks give bytes to the parser of
 * the answer, which copies them to the job's memory; net_store_poll does everything else, so that
 * no connection begins or ends within lwIP. */
#include "runtime/net/net_private.h"

#include <string.h>

#include "runtime/text/format_text.h"

/* ---- from lwIP ---- */

/* Return true if a request or its answer is on its way. */
static bool is_asked(const struct net_link *l)
{
    return l->job != NULL && l->range.to != NULL;
}

static err_t on_connected(void *context, struct tcp_pcb *pcb, err_t error)
{
    struct net_link *l = context;

    (void)pcb;
    (void)error;
    l->state = NET_LINK_OPEN;
    l->moved_ms = net_now_ms(l->net);
    return ERR_OK;
}

/* Take received bytes. The window opens at once, because the bytes have left lwIP's memory when
 * this returns. */
static err_t on_receive(void *context, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
    struct net_link *l = context;

    (void)error;
    l->moved_ms = net_now_ms(l->net);
    if (p == NULL) {
        l->over = true;
        return ERR_OK;
    }
    for (struct pbuf *q = p; q != NULL; q = q->next) {
        if (is_asked(l) && l->range.state == HTTP_RANGE_READS) {
            http_range_take(&l->range, q->payload, q->len);
        } else {
            l->over = true; /* nobody asked for these bytes: the following ones cannot be assigned
                             * to a request */
        }
    }
    tcp_recved(pcb, p->tot_len);
    pbuf_free(p);
    return ERR_OK;
}

/* Note that the connection was refused or reset. lwIP has freed the pcb already. */
static void on_error(void *context, err_t error)
{
    struct net_link *l = context;

    (void)error;
    l->pcb = NULL;
    l->over = true;
}

/* ---- jobs ---- */

static void set_reason(struct net_file *f, const char *why, int status)
{
    char answer[32] = "";

    if (status != 0 && status != 206) {
        (void)format_text(answer, sizeof answer, " (status %d)", status);
    }
    (void)format_text(f->reason, sizeof f->reason, "%s%s", why, answer);
    f->device.reason = f->reason;
}

static void end_job(struct net_job *j, enum http_range_state opened, enum err status)
{
    if (j->request == NULL) {
        j->file->opening = opened;
    } else {
        j->request->status = status;
        j->request->done = true;
    }
    j->file = NULL;
}

bool net_store_add(struct net_file *f, const struct net_job *job)
{
    struct net_store *s = &f->net->store;

    for (unsigned i = 0; i < NET_STORE_JOBS; i++) {
        if (s->jobs[i].file == NULL) {
            s->jobs[i] = *job;
            s->jobs[i].file = f;
            s->jobs[i].order = s->orders++;
            return true;
        }
    }
    return false;
}

bool net_store_works(const struct net_store *s)
{
    for (unsigned i = 0; i < NET_STORE_JOBS; i++) {
        if (s->jobs[i].file != NULL) {
            return true;
        }
    }
    return false;
}

/* Return the job that has waited longest, or NULL if none waits. */
static struct net_job *next_job(struct net_store *s)
{
    struct net_job *first = NULL;

    for (unsigned i = 0; i < NET_STORE_JOBS; i++) {
        struct net_job *j = &s->jobs[i];

        if (j->file != NULL && !j->linked &&
            (first == NULL || (int32_t)(j->order - first->order) < 0)) {
            first = j;
        }
    }
    return first;
}

/* ---- connections ---- */

static void drop(struct net_link *l, bool abort)
{
    struct tcp_pcb *pcb = l->pcb;

    l->state = NET_LINK_FREE;
    l->pcb = NULL;
    l->job = NULL;
    if (pcb == NULL) {
        return;
    }
    net_forget_callbacks(pcb);
    if (abort) {
        tcp_abort(pcb);
    } else {
        net_close(pcb);
    }
}

/* Give the job back: it waits for another connection, which continues where this one ended. */
static void give_back(struct net_link *l, const char *why)
{
    struct net_job *j = l->job;

    set_reason(j->file, why, l->range.status);
    j->linked = false;
    j->got = is_asked(l) ? l->range.got : j->got;
    /* It is not a failure if a server closes an idle connection just when a request goes out. */
    if (!l->used) {
        l->net->store.retry_ms = net_now_ms(l->net) + NET_STORE_RETRY_MS;
    }
    drop(l, true);
}

static bool connect_link(struct net_link *l, struct net_job *j)
{
    l->used = l->over = false;
    l->moved_ms = net_now_ms(l->net);
    l->pcb = tcp_new_ip_type(IPADDR_TYPE_ANY);
    if (l->pcb == NULL) {
        return false; /* lwIP has no connection left now */
    }
    tcp_arg(l->pcb, l);
    tcp_recv(l->pcb, on_receive);
    tcp_err(l->pcb, on_error);
    l->state = NET_LINK_CONNECTS;
    l->ip = j->file->ip;
    l->port = j->file->address.port;
    l->job = j;
    j->linked = true;
    memset(&l->range, 0, sizeof l->range);
    if (tcp_connect(l->pcb, &l->ip, l->port, on_connected) != ERR_OK) {
        give_back(l, "the store cannot be reached");
    }
    return l->job != NULL;
}

static void ask(struct net_link *l, struct net_job *j)
{
    const struct net_file *f = j->file;
    char text[HTTP_QUESTION_BYTES];
    size_t n = http_range_ask(text, &f->address, &f->version, j->first + j->got, j->bytes - j->got);

    l->job = j;
    j->linked = true;
    l->moved_ms = net_now_ms(l->net);
    http_range_begin(&l->range, &f->version, j->first, j->bytes, j->got, j->to);
    if (tcp_write(l->pcb, text, (u16_t)n, TCP_WRITE_FLAG_COPY) != ERR_OK) {
        give_back(l, "lwIP has no memory for the request");
        return;
    }
    (void)tcp_output(l->pcb);
}

/* End an answer that is complete, or whose error would come again. */
static void end_answer(struct net_link *l)
{
    struct net_job *j = l->job;
    struct http_range *r = &l->range;
    bool good = r->state == HTTP_RANGE_DONE;

    if (good && j->request == NULL) {
        j->file->version = r->seen;
    }
    j->file->device.reason = NULL;
    if (!good) {
        set_reason(j->file, r->error_message, r->status);
    }
    end_job(j, r->state, err_unless(good, ERR_IO));
    l->job = NULL;
    l->used = true;
    if (!r->keeps) {
        drop(l, !good);
    }
}

static const char *silence(const struct net_link *l)
{
    if (l->state == NET_LINK_CONNECTS) {
        return l->over ? "the store refuses the connection" : "the store does not answer";
    }
    return l->over ? "the store has closed the connection" : "the store has stopped sending";
}

static void work(struct net_link *l)
{
    bool asked = is_asked(l);
    bool late = net_now_ms(l->net) - l->moved_ms > NET_STORE_SILENT_MS;

    if (l->over && asked) {
        http_range_end(&l->range);
    }
    if (asked && (l->range.state == HTTP_RANGE_DONE || l->range.state == HTTP_RANGE_WRONG)) {
        end_answer(l);
        asked = false;
    }
    if (l->state != NET_LINK_FREE && l->job != NULL &&
        (l->over || late || (asked && l->range.state == HTTP_RANGE_BROKEN))) {
        give_back(l, asked && l->range.state == HTTP_RANGE_BROKEN ? l->range.error_message
                                                                  : silence(l));
    } else if (l->state != NET_LINK_FREE && l->over) {
        drop(l, false);
    } else if (l->state == NET_LINK_OPEN && l->job != NULL && !asked) {
        ask(l, l->job);
    }
}

void net_store_forget(struct net_file *f)
{
    struct net_store *s = &f->net->store;

    for (unsigned i = 0; i < NET_STORE_LINKS; i++) {
        if (s->links[i].job != NULL && s->links[i].job->file == f) {
            drop(&s->links[i], true);
        }
    }
    for (unsigned i = 0; i < NET_STORE_JOBS; i++) {
        if (s->jobs[i].file == f) {
            end_job(&s->jobs[i], HTTP_RANGE_BROKEN, net_timeout);
        }
    }
}

static bool leads_to_server(const struct net_link *l, const struct net_file *f)
{
    return ip_addr_cmp(&l->ip, &f->ip) && l->port == f->address.port;
}

/* Give a job to a connection. Returns false if no connection can take it now. */
static bool begin_job(struct net *n, struct net_job *j)
{
    struct net_link *other = NULL;

    for (unsigned i = 0; i < NET_STORE_LINKS; i++) {
        struct net_link *l = &n->store.links[i];

        l->net = n;
        if (l->state == NET_LINK_OPEN && l->job == NULL && leads_to_server(l, j->file)) {
            ask(l, j);
            return true;
        }
        if (l->state == NET_LINK_FREE || (other == NULL && l->job == NULL)) {
            other = l;
        }
    }
    if (other == NULL || net_now_ms(n) < n->store.retry_ms) {
        return false;
    }
    if (other->state != NET_LINK_FREE) {
        drop(other, false); /* an idle connection to another server */
    }
    return connect_link(other, j);
}

void net_store_poll(struct net *n)
{
    struct net_job *j;

    for (unsigned i = 0; i < NET_STORE_LINKS; i++) {
        if (n->store.links[i].state != NET_LINK_FREE) {
            work(&n->store.links[i]);
        }
    }
    while ((j = next_job(&n->store)) != NULL && begin_job(n, j)) {
    }
}
