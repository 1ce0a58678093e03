#include "runtime/features/branches/chat_branches.h"

#include <assert.h>
#include <string.h>

#include "runtime/features/beams/beams_state.h"
#include "runtime/text/format_text.h"

size_t chat_branch_bytes(void)
{
    return arena_take_bytes(sizeof(struct chat_branch));
}

uint32_t chat_kept_sequences(uint32_t branches, uint32_t beams)
{
    return branches + (beams < 2 ? 0 : beams);
}

bool chat_branches_open(struct chat *c, uint32_t n, uint32_t beams)
{
    struct chat_branches *b = branches_of(c);
    struct session_sequence *sequences[CHAT_BRANCHES_MOST + BEAMS_MOST];

    assert(n <= CHAT_BRANCHES_MOST && beams <= BEAMS_MOST);
    for (uint32_t i = 0; i < n; i++) {
        b->list[i] = arena_take(&c->session->model->arena, ARENA_SCRATCH, sizeof *b->list[i]);
        memset(b->list[i], 0, sizeof *b->list[i]);
        sequences[i] = &b->list[i]->sequence;
    }
    for (uint32_t i = 0; i < chat_kept_sequences(0, beams); i++) {
        sequences[n + i] = &beams_of(c)->sequences[i];
    }
    session_sequences_open(c->session, sequences, chat_kept_sequences(n, beams));
    features_switch(c->features, FEATURE_branches, n != 0);
    b->n = n;
    b->retries = 0;
    memcpy(b->current, "main", sizeof "main");
    beams_of(c)->n = 0;
    if (beams >= 2 && beams_of(c)->sequences[0].table != NULL) {
        beams_of(c)->n = beams;
    }
    features_switch(c->features, FEATURE_beams, beams_of(c)->n != 0);
    return beams < 2 || beams_of(c)->n != 0;
}

/* Find a branch by its name; "" finds a free slot. NULL: there is none. */
static struct chat_branch *find(struct chat *c, const char *name)
{
    for (uint32_t i = 0; i < branches_of(c)->n; i++) {
        if (strcmp(branches_of(c)->list[i]->name, name) == 0) {
            return branches_of(c)->list[i];
        }
    }
    return NULL;
}

static bool is_name(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++) {
        char ch = name[i];

        if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
              ch == '-' || ch == '_' || ch == '.')) {
            return false;
        }
    }
    return n != 0 && n < CHAT_BRANCH_NAME_BYTES;
}

static void set_name(char *to, const char *name)
{
    memcpy(to, name, strlen(name) + 1);
}

/* Keep a copy of the current sequence. */
static void keep(struct chat *c, struct chat_branch *b, const char *name, bool retried)
{
    set_name(b->name, name);
    b->retried = retried;
    b->started = c->started;
    b->reply_start = c->reply_start;
    b->turns = c->turns;
    turns_forget_said(&b->turns);
    session_sequence_keep(c->session, &b->sequence);
}

enum err chat_branch_place(struct chat *c, const char *name)
{
    if (!is_name(name)) {
        return ERR_BAD_ARGUMENT;
    }
    if (find(c, name) == NULL && strcmp(branches_of(c)->current, name) != 0 &&
        find(c, "") == NULL) {
        return ERR_NO_SPACE;
    }
    return ERR_OK;
}

enum err chat_branch(struct chat *c, const char *name)
{
    struct chat_branch *b;

    if (!is_name(name)) {
        return ERR_BAD_ARGUMENT;
    }
    if (find(c, name) != NULL || strcmp(branches_of(c)->current, name) == 0) {
        return ERR_BUSY;
    }
    b = find(c, "");
    if (b == NULL) {
        return ERR_NO_SPACE;
    }
    keep(c, b, branches_of(c)->current, false);
    turns_forget_said(&c->turns);
    set_name(branches_of(c)->current, name);
    return ERR_OK;
}

/* Return the oldest branch, which has the lowest number because numbers only grow. */
static struct chat_branch *oldest_retried(struct chat *c)
{
    for (uint32_t number = 1; number <= branches_of(c)->retries; number++) {
        char name[CHAT_BRANCH_NAME_BYTES];
        struct chat_branch *b;

        format_text(name, sizeof name, "retry-%u", (unsigned)number);
        b = find(c, name);
        if (b != NULL && b->retried) {
            return b;
        }
    }
    return NULL;
}

const char *chat_branch_retried(struct chat *c)
{
    struct chat_branch *b = find(c, "");
    char name[CHAT_BRANCH_NAME_BYTES];

    if (b == NULL) {
        b = oldest_retried(c);
    }
    if (b == NULL) {
        return NULL;
    }
    b->name[0] = '\0';
    do {
        format_text(name, sizeof name, "retry-%u", (unsigned)++branches_of(c)->retries);
    } while (find(c, name) != NULL || strcmp(branches_of(c)->current, name) == 0);
    keep(c, b, name, true);
    return b->name;
}

static void swap_bytes(void *a, void *b, size_t n)
{
    uint8_t *x = a, *y = b;

    for (size_t i = 0; i < n; i++) {
        uint8_t byte = x[i];

        x[i] = y[i];
        y[i] = byte;
    }
}

enum err chat_switch(struct chat *c, const char *name, uint32_t *pending)
{
    struct chat_branch *b = name[0] == '\0' ? NULL : find(c, name);

    if (strcmp(name, branches_of(c)->current) == 0) {
        *pending = c->session->n_ids - c->session->n_cached;
        return ERR_OK;
    }
    if (b == NULL) {
        return ERR_NOT_FOUND;
    }
    session_sequence_swap(c->session, &b->sequence);
    *pending = c->session->n_ids - c->session->n_cached;
    turns_forget_said(&c->turns); /* a request in one conversation permits no call in another */
    swap_bytes(&c->turns, &b->turns, sizeof b->turns);
    swap_bytes(&c->started, &b->started, sizeof b->started);
    swap_bytes(&c->reply_start, &b->reply_start, sizeof b->reply_start);
    features_changed(c->features, c);
    swap_bytes(branches_of(c)->current, b->name, sizeof b->name);
    b->retried = false;
    return ERR_OK;
}

enum err chat_branch_drop(struct chat *c, const char *name)
{
    struct chat_branch *b = name[0] == '\0' ? NULL : find(c, name);

    if (strcmp(name, branches_of(c)->current) == 0) {
        return ERR_BUSY;
    }
    if (b == NULL) {
        return ERR_NOT_FOUND;
    }
    b->name[0] = '\0';
    session_sequence_drop(c->session, &b->sequence);
    return ERR_OK;
}
