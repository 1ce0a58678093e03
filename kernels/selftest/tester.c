#include "kernels/selftest/tester.h"

#include <string.h>

struct room {
    _Alignas(TESTER_PAGE) uint8_t bytes[TESTER_ROOM];
    uint8_t fence[TESTER_PAGE];
};

/* `source` holds the inputs of a call, and `expected` holds the results of the
 * reference. The reference and the kernel both run on the buffers in `room`. */
struct bench {
    struct room room[TESTER_SLOTS];
    _Alignas(64) uint8_t source[TESTER_SLOTS][TESTER_ROOM];
    _Alignas(64) uint8_t expected[TESTER_SLOTS][TESTER_ROOM];
    _Alignas(64) uint8_t stack[TESTER_STACK_BYTES + 2 * TESTER_STACK_GUARD];
    uint8_t guard[TESTER_PAGE]; /* to copy from */
};
static_assert(sizeof(struct bench) == TESTER_WORK_BYTES, "what callers are told");

/* The tester's only state. The image allocates the memory from the arena, not from its BSS. */
static struct bench *bench;

static const char *const fault_names[] = {
    "wrong value",
    "wrote beside an output",
    "changed an input",
    "callee-saved register lost",
    "callee-saved float register lost",
    "stack pointer moved",
    "floating-point mode changed",
    "platform register changed",
    "no reference, or no cases to compare it with",
    "wrote beyond its stack",
    "upper halves of vectors left dirty",
};

enum { STACK_BYTE = 0xa7, GUARD_PERIOD = 16, GUARD_MOST = TESTER_PAGE - GUARD_PERIOD };

static void put_text(char *line, size_t bytes, const char *text)
{
    size_t at = strlen(line);

    while (*text && at + 1 < bytes) {
        line[at++] = *text++;
    }
    line[at] = 0;
}

static void put_number(char *line, size_t bytes, uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;

    digits[--at] = 0;
    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number);
    put_text(line, bytes, &digits[at]);
}

void tester_faults_text(uint32_t faults, char *out, size_t bytes)
{
    out[0] = 0;
    for (size_t i = 0; i < sizeof fault_names / sizeof fault_names[0]; i++) {
        if ((faults & 1u << i) == 0) {
            continue;
        }
        if (out[0]) {
            put_text(out, bytes, ", ");
        }
        put_text(out, bytes, fault_names[i]);
    }
}

/* Return the next random number, by splitmix64. */
uint64_t tester_random(struct tester *t)
{
    uint64_t z = t->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Guards differ from byte to byte, so that a copied guard is detected. Read as floats, they are
 * huge numbers of both signs or NaNs, so one lane too many changes any sum, maximum or minimum. */
static uint8_t guard_byte(uintptr_t address)
{
    return (uint8_t)((address & 4 ? 0x70u : 0xf0u) | (address * 7u & 15u));
}

void tester_open(void *memory)
{
    assert((uintptr_t)memory % TESTER_PAGE == 0);
    bench = memory;
    memset(bench->stack, STACK_BYTE, sizeof bench->stack);
    for (size_t i = 0; i < sizeof bench->guard; i++) {
        bench->guard[i] = guard_byte(i);
    }
}

void tester_visit_fences(void (*protect)(void *page, size_t bytes))
{
    for (size_t i = 0; i < TESTER_SLOTS; i++) {
        protect(bench->room[i].fence, TESTER_PAGE);
    }
}

void *tester_source(size_t slot)
{
    return bench->source[slot];
}

static uint32_t word_at(const uint8_t *bytes, size_t i)
{
    uint32_t word;

    memcpy(&word, bytes + 4 * i, 4);
    if ((word & 0x7fffffffu) > 0x7f800000u) {
        return 0x7fc00000u;
    }
    return word;
}

static uint32_t half_at(const uint8_t *bytes, size_t i)
{
    uint16_t half;

    memcpy(&half, bytes + 2 * i, 2);
    if ((half & 0x7fffu) > 0x7c00u) {
        return 0x7e00u;
    }
    return half;
}

/* Return value i of a slot, with the same bits for every NaN. */
static uint32_t value_at(const uint8_t *bytes, size_t i, enum tester_type type)
{
    switch (type) {
    case TESTER_F32: return word_at(bytes, i);
    case TESTER_F16: return half_at(bytes, i);
    case TESTER_BYTES:
    default: return bytes[i];
    }
}

static size_t size_of(enum tester_type type)
{
    static const size_t bytes[] = { [TESTER_F32] = 4, [TESTER_F16] = 2, [TESTER_BYTES] = 1 };

    return bytes[type];
}

static void report_fault(struct tester *t, const struct tester_case *c, unsigned placement,
                         uint32_t fault)
{
    static const char *const placements[] = { ", at the fence: ", ", least alignment: " };
    const char *joint = " size ";
    char line[240] = "";

    t->faults |= fault;
    if (!t->report || t->n_reported++ >= 4) {
        return;
    }
    put_text(line, sizeof line, t->symbol);
    put_text(line, sizeof line, ":");
    for (size_t i = 0; i < c->n_sizes; i++) {
        put_text(line, sizeof line, joint);
        put_number(line, sizeof line, c->size[i], 10);
        joint = " x ";
    }
    if (c->scalar[1] != 0.0f) {
        put_text(line, sizeof line, ", offset");
    }
    put_text(line, sizeof line, ", data ");
    put_number(line, sizeof line, c->data, 10);
    put_text(line, sizeof line, placements[placement]);
    tester_faults_text(fault, line + strlen(line), sizeof line - strlen(line));
    t->report(t->report_context, line);
}

static void report_value(struct tester *t, size_t at, uint32_t got, uint32_t wanted)
{
    char line[120] = "  value ";

    if (!t->report || t->n_reported > 4) {
        return;
    }
    put_number(line, sizeof line, at, 10);
    put_text(line, sizeof line, " is 0x");
    put_number(line, sizeof line, got, 16);
    put_text(line, sizeof line, ", the reference has 0x");
    put_number(line, sizeof line, wanted, 16);
    t->report(t->report_context, line);
}

/* Returns the start of slot s. Inputs may touch the fence; outputs have a guard before it. */
static uint8_t *place(const struct tester_case *c, size_t s, unsigned placement)
{
    const struct tester_slot *slot = &c->slot[s];
    uint8_t *room = bench->room[s].bytes;
    size_t room_end = TESTER_ROOM;

    if (slot->use != TESTER_IN) {
        room_end -= TESTER_GUARD;
    }
    if (placement == 0) {
        return room + (room_end - slot->bytes) / slot->align * slot->align;
    }
    return room + 2 * TESTER_GUARD + slot->align;
}

/* Return the guard bytes for an address, GUARD_MOST of them; guards repeat every GUARD_PERIOD
 * bytes. */
static const uint8_t *guard_of(const uint8_t *at)
{
    return bench->guard + (uintptr_t)at % GUARD_PERIOD;
}

static size_t guard_bytes(size_t available)
{
    return available < TESTER_GUARD ? available : TESTER_GUARD;
}

/* Fill an output before the call. */
static void fill_like_guard(uint8_t *at, size_t bytes)
{
    for (size_t n; bytes > 0; at += n, bytes -= n) {
        n = bytes < GUARD_MOST ? bytes : GUARD_MOST;
        memcpy(at, guard_of(at), n);
    }
}

static size_t guard_before(const uint8_t *start, const uint8_t *room)
{
    return guard_bytes((size_t)(start - room));
}

static size_t guard_after(const uint8_t *end, const uint8_t *room)
{
    return guard_bytes((size_t)(room + TESTER_ROOM - end));
}

static void fill_slot(const struct tester_case *c, size_t s, uint8_t *start)
{
    const struct tester_slot *slot = &c->slot[s];
    const uint8_t *room = bench->room[s].bytes;
    uint8_t *end = start + slot->bytes;
    size_t before = guard_before(start, room);

    memcpy(start - before, guard_of(start - before), before);
    memcpy(end, guard_of(end), guard_after(end, room));
    if (slot->use == TESTER_OUT) {
        fill_like_guard(start, slot->bytes);
    } else {
        memcpy(start, bench->source[s], slot->bytes);
    }
}

static bool guards_hold(size_t s, const uint8_t *start, size_t bytes)
{
    const uint8_t *room = bench->room[s].bytes;
    const uint8_t *end = start + bytes;
    size_t before = guard_before(start, room);

    return memcmp(start - before, guard_of(start - before), before) == 0 &&
           memcmp(end, guard_of(end), guard_after(end, room)) == 0;
}

/* Return true if all bytes are STACK_BYTE: this is so if the first
 * 8 bytes are, and every byte equals the one 8 bytes before it. */
static bool is_untouched(const uint8_t *guard)
{
    static const uint8_t word[8] = { STACK_BYTE, STACK_BYTE, STACK_BYTE, STACK_BYTE,
                                     STACK_BYTE, STACK_BYTE, STACK_BYTE, STACK_BYTE };

    return memcmp(guard, word, 8) == 0 && memcmp(guard, guard + 8, TESTER_STACK_GUARD - 8) == 0;
}

/* Return true if both guards of the stack are intact, and repair them. */
static bool stack_holds(void)
{
    uint8_t *above = bench->stack + TESTER_STACK_GUARD + TESTER_STACK_BYTES;

    if (is_untouched(bench->stack) && is_untouched(above)) {
        return true;
    }
    memset(bench->stack, STACK_BYTE, TESTER_STACK_GUARD);
    memset(above, STACK_BYTE, TESTER_STACK_GUARD);
    return false;
}

static void call(struct kernel_call *call, const struct tester_case *c, uint8_t *const start[])
{
    size_t first = c->n_pointers - c->pointer_last, at = 0;

    for (size_t i = 0; i < first; i++) {
        size_t slot = c->pointer[i];

        call->integer[at++] = slot == TESTER_NULL ? 0 : (uint64_t)(uintptr_t)start[slot];
    }
    for (size_t i = 0; i < c->n_sizes && !c->sizes_in_slot; i++) {
        call->integer[at++] = c->size[i];
    }
    for (size_t i = first; i < c->n_pointers; i++) {
        call->integer[at++] = (uint64_t)(uintptr_t)start[c->pointer[i]];
    }
    for (; at < 6; at++) {
        call->integer[at] = 0xdeadbeef00badbadu + at;
    }
    call->scalar[0] = c->scalar[0];
    call->scalar[1] = c->scalar[1];
    call->stack = bench->stack + TESTER_STACK_GUARD + TESTER_STACK_BYTES;
    kernel_call_checked(call);
    if (!stack_holds()) {
        call->damage |= TESTER_STACK_HIT;
    }
}

static void add_to_digest(struct tester *t, uint32_t value)
{
    t->digest = (t->digest ^ value) * 0x100000001b3u;
}

/* -0 counts as +0. */
static uint32_t returned_value(const struct kernel_call *call)
{
    uint32_t word = word_at((const uint8_t *)&call->result, 0);

    if (word == 0x80000000u) {
        return 0;
    }
    return word;
}

static void keep_expected(struct tester *t, const struct tester_case *c, uint8_t *const start[])
{
    for (size_t s = 0; s < c->n_slots; s++) {
        const struct tester_slot *slot = &c->slot[s];

        if (slot->use == TESTER_IN) {
            continue;
        }
        memcpy(bench->expected[s], start[s], slot->bytes);
        for (size_t i = 0; i < slot->bytes / size_of(slot->type); i++) {
            add_to_digest(t, value_at(start[s], i, slot->type));
        }
    }
}

/* Report the first value that differs. */
static void compare_values(struct tester *t, const struct tester_case *c, size_t s,
                           unsigned placement, const uint8_t *start)
{
    const struct tester_slot *slot = &c->slot[s];

    for (size_t i = 0; i < slot->bytes / size_of(slot->type); i++) {
        uint32_t got = value_at(start, i, slot->type);
        uint32_t wanted = value_at(bench->expected[s], i, slot->type);

        if (got != wanted) {
            report_fault(t, c, placement, TESTER_VALUE);
            report_value(t, i, got, wanted);
            return;
        }
    }
}

static void compare_slot(struct tester *t, const struct tester_case *c, size_t s,
                         unsigned placement, const uint8_t *start)
{
    const struct tester_slot *slot = &c->slot[s];

    if (slot->use == TESTER_IN) {
        if (memcmp(start, bench->source[s], slot->bytes) != 0) {
            report_fault(t, c, placement, TESTER_INPUT);
        }
        return;
    }
    if (!guards_hold(s, start, slot->bytes)) {
        report_fault(t, c, placement, TESTER_GUARD_HIT);
    }
    if (memcmp(start, bench->expected[s], slot->bytes) != 0) { /* equal bytes need no more */
        compare_values(t, c, s, placement, start);
    }
}

static void place_slots(const struct tester_case *c, unsigned placement, uint8_t *start[])
{
    for (size_t s = 0; s < c->n_slots; s++) {
        start[s] = place(c, s, placement);
        fill_slot(c, s, start[s]);
    }
}

/* Compute the results that the kernel must give, at both placements. */
static float run_reference(struct tester *t, const struct tester_case *c)
{
    uint8_t *start[TESTER_SLOTS];
    struct kernel_call of_reference = { .function = t->reference, .features = t->features };

    place_slots(c, 1, start);
    call(&of_reference, c, start);
    keep_expected(t, c, start);
    if (!c->returns_float) {
        return 0.0f;
    }
    add_to_digest(t, returned_value(&of_reference));
    return of_reference.result;
}

static void run_placed(struct tester *t, const struct tester_case *c, unsigned placement,
                       float result)
{
    uint8_t *start[TESTER_SLOTS];
    struct kernel_call wanted = { .result = result };
    struct kernel_call of_kernel = { .function = t->function, .features = t->features };

    place_slots(c, placement, start);
    call(&of_kernel, c, start);
    if (of_kernel.damage & ~t->ignored) {
        report_fault(t, c, placement, of_kernel.damage & ~t->ignored);
    }
    for (size_t s = 0; s < c->n_slots; s++) {
        compare_slot(t, c, s, placement, start[s]);
    }
    if (c->returns_float && returned_value(&of_kernel) != returned_value(&wanted)) {
        report_fault(t, c, placement, TESTER_VALUE);
        report_value(t, 0, returned_value(&of_kernel), returned_value(&wanted));
    }
}

void tester_run(struct tester *t, const struct tester_case *c)
{
    float result;

    for (size_t s = 0; s < c->n_slots; s++) {
        assert(c->slot[s].bytes + 4 * TESTER_GUARD <= TESTER_ROOM);
    }
    t->n_drawn += 2;
    if (t->function == t->reference && t->n_drawn / 2 % 5 != t->first) {
        return; /* the reference is slow, and the other rows of its op run it anyway */
    }
    result = run_reference(t, c);
    run_placed(t, c, 0, result);
    run_placed(t, c, 1, result);
    t->n_cases += 2;
}
