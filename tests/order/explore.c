/* Why this file is long: which core goes on and what each core may see are one state, and each step
 * asks both. */
#include "tests/order/explore_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum {
    OBJECTS = 40,
    VALUES = 400, /* most of one object in one run */
    CHOICES = 20000,
    STEPS = 20000, /* of one run */
    SPINS = 300,   /* loads of one value in a row, after which a core waits for another core */
    STACK = 128 * 1024,
    SHADOW = 1 << 14, /* words of 8 bytes that a run touches; a power of two */
};

/* How far a view has seen: the values of each object, and the steps of each core. */
struct view {
    uint16_t seen[OBJECTS];
    uint16_t steps[EXPLORE_CORES];
};

struct value {
    uint64_t bits;
    struct view view; /* view of its release, or of what it continues with */
};

struct object {
    const volatile void *address;
    unsigned n;       /* values so far */
    unsigned last_sc; /* the last sequentially consistent store */
    struct value values[VALUES];
};

enum state { ABSENT, READY, SPINS_ON, SLEEPS, YIELDS, ENDED };

struct core {
    enum state state;
    ucontext_t context;
    uint8_t *stack;
    void (*entry)(void *arg);
    void *arg;
    struct view view;
    unsigned stores, others; /* its own; and those of others when its loop began anew */
    unsigned object, value;  /* address of its last load, if that was the last thing it did */
    unsigned repeats;
    bool is_stale; /* since it yielded, it has read a value that was not the last */
};

struct shadow {
    uintptr_t word;
    unsigned run;
    uint16_t wrote_step[8], read_step[8][EXPLORE_CORES];
    uint8_t wrote_core[8];
};

static struct explorer {
    void (*program)(void);
    struct explore_bounds bounds;
    struct explore_weaker weaker;
    struct explore_result result;
    ucontext_t home;
    struct core cores[EXPLORE_CORES];
    struct core *now; /* NULL: none runs */
    struct object objects[OBJECTS];
    unsigned n_objects, n_stores, n_steps, preemptions, stale;
    struct choice {
        uint16_t taken, of;
    } choices[CHOICES];
    unsigned n_choices, at;
    struct shadow shadow[SHADOW];
    unsigned run;
} x;

static unsigned number(const struct core *core)
{
    return (unsigned)(core - x.cores);
}

unsigned explore_core(void)
{
    return number(x.now);
}

bool explore_runs(void)
{
    return x.now != NULL;
}

/* ---- choices and cores -------------------------------------------------------------------------- */

/* Ends the run and does not return. The cores are left where they are. */
static void fault(const char *what)
{
    snprintf(x.result.fault, sizeof x.result.fault, "%s", what);
    x.now = NULL;
    setcontext(&x.home);
    abort();
}

static unsigned choose(unsigned of)
{
    if (of == 1)
        return 0;
    if (x.at == CHOICES)
        fault("more choices than the explorer has room for");
    if (x.at == x.n_choices)
        x.choices[x.n_choices++] = (struct choice){ 0, (uint16_t)of };
    return x.choices[x.at++].taken;
}

static bool can_go(const struct core *core)
{
    if (core->state == READY)
        return true;
    if (core->state == SPINS_ON)
        return x.objects[core->object].n - 1 > core->view.seen[core->object];
    return core->state == YIELDS && (core->is_stale || x.n_stores - core->stores != core->others);
}

static void switch_to(struct core *next)
{
    struct core *before = x.now;

    x.now = next;
    if (next->state == YIELDS) {
        next->others = x.n_stores - next->stores;
        next->is_stale = false;
    }
    next->state = READY;
    if (next != before)
        swapcontext(&before->context, &next->context);
}

/* Describes cores of which none can go on. */
static void stuck(void)
{
    static const char *const names[] = { "", "runs", "spins", "sleeps", "waits", "ended" };
    char text[120] = "nobody can go on:";

    for (unsigned i = 0; i < EXPLORE_CORES; i++) {
        size_t at = strlen(text);

        if (x.cores[i].state != ABSENT)
            snprintf(text + at, sizeof text - at, " core %u %s,", i, names[x.cores[i].state]);
    }
    text[strlen(text) - 1] = '\0';
    fault(text);
}

/* Called before each step that others can see: chooses who makes the next one. */
static void next_step(void)
{
    struct core *able[EXPLORE_CORES];
    unsigned n = 0, taken;
    bool goes_on = can_go(x.now);

    if (++x.n_steps > STEPS)
        fault("a run does not end");
    if (goes_on)
        able[n++] = x.now;
    for (unsigned i = 0; i < EXPLORE_CORES; i++)
        if (&x.cores[i] != x.now && can_go(&x.cores[i]) &&
            (!goes_on || x.preemptions < x.bounds.preemptions))
            able[n++] = &x.cores[i];
    if (n == 0)
        stuck();
    taken = choose(n);
    if (taken > 0 && goes_on)
        x.preemptions++;
    switch_to(able[taken]);
}

static void step(void)
{
    x.now->repeats = 0;
    next_step();
    x.now->view.steps[number(x.now)]++;
}

static bool all_ended(void)
{
    for (unsigned i = 0; i < EXPLORE_CORES; i++)
        if (x.cores[i].state != ABSENT && x.cores[i].state != ENDED)
            return false;
    return true;
}

static void core_main(void)
{
    x.now->entry(x.now->arg);
    x.now->state = ENDED;
    if (all_ended()) {
        x.now = NULL;
        setcontext(&x.home);
    }
    next_step();
}

static void begin(unsigned number_of, void (*entry)(void *arg), void *arg)
{
    struct core *core = &x.cores[number_of];

    if (core->stack == NULL)
        core->stack = malloc(STACK);
    if (core->stack == NULL)
        abort();
    core->entry = entry;
    core->arg = arg;
    core->state = READY;
    getcontext(&core->context);
    core->context.uc_stack.ss_sp = core->stack;
    core->context.uc_stack.ss_size = STACK;
    core->context.uc_link = NULL;
    makecontext(&core->context, core_main, 0);
}

void explore_start(unsigned core, void (*entry)(void *arg), void *arg)
{
    step();
    x.cores[core].view = x.now->view;
    x.cores[core].view.steps[core] = 1;
    begin(core, entry, arg);
    x.now->view.steps[explore_core()]++;
}

void explore_yield(void)
{
    x.now->repeats = 0;
    x.now->state = YIELDS;
    next_step();
}

void explore_wake(void)
{
    step();
    for (unsigned i = 0; i < EXPLORE_CORES; i++)
        if (x.cores[i].state == SLEEPS)
            x.cores[i].state = READY;
}

void explore_check(bool good, const char *what)
{
    if (!good)
        fault(what);
}

/* ---- plain memory ------------------------------------------------------------------------------- */

static struct shadow *shadow_of(uintptr_t address)
{
    uintptr_t word = address / 8, at = word * 0x9e3779b1u;

    for (unsigned tries = 0; tries < SHADOW; tries++, at++) {
        struct shadow *s = &x.shadow[at % SHADOW];

        if (s->run == x.run && s->word == word)
            return s;
        if (s->run != x.run) {
            memset(s, 0, sizeof *s);
            s->word = word;
            s->run = x.run;
            return s;
        }
    }
    abort();
}

static void race(const char *what, unsigned other)
{
    char text[120];

    snprintf(text, sizeof text, "core %u %s what core %u used, without order between them",
             explore_core(), what, other);
    fault(text);
}

/* Steps count from 1: a core's step is its latest. */
void explore_touch(const volatile void *at, size_t bytes, bool writes)
{
    unsigned self;

    if (x.now == NULL)
        return;
    self = explore_core();
    for (uintptr_t address = (uintptr_t)at; address < (uintptr_t)at + bytes; address++) {
        struct shadow *s = shadow_of(address);
        unsigned byte = address % 8;

        if (s->wrote_step[byte] > x.now->view.steps[s->wrote_core[byte]])
            race(writes ? "writes" : "reads", s->wrote_core[byte]);
        for (unsigned i = 0; writes && i < EXPLORE_CORES; i++)
            if (s->read_step[byte][i] > x.now->view.steps[i])
                race("writes", i);
        if (writes) {
            s->wrote_core[byte] = (uint8_t)self;
            s->wrote_step[byte] = x.now->view.steps[self];
        } else {
            s->read_step[byte][self] = x.now->view.steps[self];
        }
    }
}

/* ---- atomic objects ----------------------------------------------------------------------------- */

static bool acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static int weakened(const volatile void *address, int order, unsigned kind)
{
    if (x.weaker.object != address || (x.weaker.kinds & kind) == 0)
        return order;
    if (x.weaker.relaxed)
        return __ATOMIC_RELAXED;
    return order == __ATOMIC_SEQ_CST ? __ATOMIC_ACQ_REL : order;
}

static void merge(struct view *into, const struct view *from)
{
    for (unsigned i = 0; i < x.n_objects; i++)
        if (into->seen[i] < from->seen[i])
            into->seen[i] = from->seen[i];
    for (unsigned i = 0; i < EXPLORE_CORES; i++)
        if (into->steps[i] < from->steps[i])
            into->steps[i] = from->steps[i];
}

/* The first value is the one in memory, stored before any core but the first began. */
static unsigned object_of(const volatile void *address, uint64_t bits)
{
    struct object *o;

    for (unsigned i = 0; i < x.n_objects; i++)
        if (x.objects[i].address == address)
            return i;
    if (x.n_objects == OBJECTS)
        fault("more atomic objects than the explorer has room for");
    o = &x.objects[x.n_objects];
    o->address = address;
    o->n = 1;
    o->last_sc = 0;
    o->values[0].bits = bits;
    memset(&o->values[0].view, 0, sizeof o->values[0].view);
    return x.n_objects++;
}

static void take(unsigned index, unsigned value, int order)
{
    x.now->view.seen[index] = (uint16_t)value;
    if (acquires(order))
        merge(&x.now->view, &x.objects[index].values[value].view);
}

/* Whether nothing has changed since this core's last load, which was the same. */
static bool repeats(unsigned index)
{
    struct core *core = x.now;

    if (core->repeats == 0 || core->object != index ||
        x.objects[index].n - 1 != core->view.seen[index])
        return false;
    if (core->repeats++ > SPINS) {
        core->state = SPINS_ON;
        next_step();
        return false;
    }
    return true;
}

/* Returns the last value, or an older one that this core may still see. */
static unsigned readable(unsigned index, int order)
{
    const struct object *o = &x.objects[index];
    unsigned first = x.now->view.seen[index], back;

    if (order == __ATOMIC_SEQ_CST && first < o->last_sc)
        first = o->last_sc;
    if (x.stale == x.bounds.stale)
        first = o->n - 1;
    back = choose(o->n - first);
    if (back > 0) {
        x.stale++;
        x.now->is_stale = true;
    }
    return o->n - 1 - back;
}

uint64_t explore_load(const volatile void *address, uint64_t memory, int order)
{
    unsigned index, value;

    if (x.now == NULL)
        return memory;
    order = weakened(address, order, EXPLORE_LOADS);
    index = object_of(address, memory);
    if (repeats(index))
        return x.objects[index].values[x.now->view.seen[index]].bits;
    step();
    value = readable(index, order);
    take(index, value, order);
    x.now->object = index;
    x.now->repeats = 1;
    return x.objects[index].values[value].bits;
}

/* follows: the value that a read-modify-write has read; NULL: a plain store. */
static void store(unsigned index, uint64_t bits, int order, const struct value *follows)
{
    struct object *o = &x.objects[index];
    struct value *v = &o->values[o->n];

    if (o->n == VALUES)
        fault("more values than the explorer has room for");
    memset(v, 0, sizeof *v);
    v->bits = bits;
    x.now->view.seen[index] = (uint16_t)o->n;
    if (releases(order))
        v->view = x.now->view;
    if (follows != NULL)
        merge(&v->view, &follows->view);
    v->view.seen[index] = (uint16_t)o->n;
    if (order == __ATOMIC_SEQ_CST)
        o->last_sc = o->n;
    o->n++;
    x.now->view.steps[explore_core()]++; /* what comes after it is not released by it */
    x.now->stores++;
    x.n_stores++;
}

void explore_store(const volatile void *address, uint64_t memory, uint64_t bits, int order)
{
    unsigned index;

    if (x.now == NULL)
        return;
    index = object_of(address, memory);
    step();
    store(index, bits, weakened(address, order, EXPLORE_STORES), NULL);
}

/* The loading and the storing half may be weakened separately. */
uint64_t explore_last(const volatile void *address, uint64_t memory, int order, unsigned *index)
{
    *index = object_of(address, memory);
    step();
    take(*index, x.objects[*index].n - 1, weakened(address, order, EXPLORE_LOADS));
    return x.objects[*index].values[x.objects[*index].n - 1].bits;
}

void explore_change(unsigned index, const volatile void *address, uint64_t bits, int order)
{
    struct object *o = &x.objects[index];

    store(index, bits, weakened(address, order, EXPLORE_STORES), &o->values[o->n - 1]);
}

void explore_wait(const _Atomic uint32_t *word, uint32_t old)
{
    if (explore_load(word, old, __ATOMIC_SEQ_CST) != old)
        return;
    x.now->repeats = 0;
    x.now->state = SLEEPS;
    next_step();
}

/* ---- all orders --------------------------------------------------------------------------------- */

static void program_main(void *arg)
{
    (void)arg;
    x.program();
}

static void run_once(void)
{
    volatile bool home = false; /* the second time that getcontext returns */

    x.run++;
    x.n_objects = x.n_stores = x.n_steps = x.preemptions = x.stale = 0;
    x.at = 0;
    for (unsigned i = 0; i < EXPLORE_CORES; i++) {
        uint8_t *stack = x.cores[i].stack;

        memset(&x.cores[i], 0, sizeof x.cores[i]);
        x.cores[i].stack = stack;
    }
    begin(0, program_main, NULL);
    x.cores[0].view.steps[0] = 1;
    getcontext(&x.home);
    if (home)
        return;
    home = true;
    x.now = &x.cores[0];
    setcontext(&x.cores[0].context);
}

/* Changes the last choice that has an alternative left, for the next run. False: there is none. */
static bool next_run(void)
{
    while (x.n_choices > 0 && x.choices[x.n_choices - 1].taken + 1 == x.choices[x.n_choices - 1].of)
        x.n_choices--;
    if (x.n_choices == 0)
        return false;
    x.choices[x.n_choices - 1].taken++;
    return true;
}

struct explore_result explore(void (*program)(void), const struct explore_bounds *bounds,
                              const struct explore_weaker *weaker)
{
    x.program = program;
    x.bounds = *bounds;
    x.weaker = *weaker;
    memset(&x.result, 0, sizeof x.result);
    x.n_choices = 0;
    do {
        run_once();
        x.result.runs++;
        x.result.cut = x.result.runs == bounds->runs;
    } while (x.result.fault[0] == '\0' && !x.result.cut && next_run());
    return x.result;
}
