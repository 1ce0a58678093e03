/* Runs a pattern over characters. A set of states has one bit for each state. Once the pattern is
 * found, later characters do not matter. */
#include <string.h>

#include "flash_image/grammar/schema_pattern.h"
#include "runtime/text/utf8.h"

static bool has(const uint64_t *set, uint32_t i)
{
    return (set[i / 64] >> i % 64 & 1) != 0;
}

/* Add a state and all states that it reaches without a character. */
static void add(const struct pattern *p, uint64_t *set, uint32_t at, bool begins, bool ends)
{
    uint32_t stack[2 * PATTERN_STATES_MOST], n = 0;

    stack[n++] = at;
    while (n != 0) {
        const struct pattern_state *s = &p->states[at = stack[--n]];

        if (has(set, at)) {
            continue;
        }
        set[at / 64] |= (uint64_t)1 << at % 64;
        if (s->kind == PATTERN_SPLIT) {
            stack[n++] = s->other;
        }
        if (s->kind == PATTERN_SPLIT || (s->kind == PATTERN_BEGIN && begins) ||
            (s->kind == PATTERN_END && ends)) {
            stack[n++] = s->next;
        }
    }
}

static void settle(const struct pattern *p, uint64_t *set)
{
    if (has(set, p->found)) {
        memset(set, 0, p->words * sizeof *set);
        set[p->found / 64] |= (uint64_t)1 << p->found % 64;
    }
}

void pattern_begin(const struct pattern *p, uint64_t *set)
{
    memset(set, 0, p->words * sizeof *set);
    add(p, set, p->start, true, false);
    settle(p, set);
}

/* True if the class contains the character; its ranges are ascending. */
static bool reads(const struct pattern *p, const struct pattern_state *s, uint32_t c)
{
    uint32_t first = s->first, end = s->first + s->n;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;

        if (c < p->ranges[middle].low) {
            end = middle;
        } else if (c > p->ranges[middle].high) {
            first = middle + 1;
        } else {
            return true;
        }
    }
    return false;
}

void pattern_step(const struct pattern *p, const uint64_t *from, uint32_t c, uint64_t *to)
{
    memset(to, 0, p->words * sizeof *to);
    if (has(from, p->found)) {
        to[p->found / 64] |= (uint64_t)1 << p->found % 64;
        return;
    }
    for (unsigned word = 0; word < p->words; word++) {
        uint64_t bits = from[word];

        for (; bits != 0; bits &= bits - 1) {
            uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(bits);
            const struct pattern_state *s = &p->states[i];

            if (s->kind == PATTERN_CLASS && reads(p, s, c)) {
                add(p, to, s->next, false, false);
            }
        }
    }
    add(p, to, p->start, false, false); /* a match may begin anywhere */
    settle(p, to);
}

bool pattern_ends(const struct pattern *p, const uint64_t *set)
{
    uint64_t end[PATTERN_WORDS_MOST] = { 0 };

    if (has(set, p->found)) {
        return true;
    }
    for (uint32_t i = 0; i < p->n_states; i++) {
        if (has(set, i) && p->states[i].kind == PATTERN_END) {
            add(p, end, p->states[i].next, false, true);
        }
    }
    return has(end, p->found);
}

static bool one_matches(const struct pattern *p, const char *text)
{
    uint64_t sets[2][PATTERN_WORDS_MOST];
    size_t bytes = strlen(text);
    unsigned now = 0;

    pattern_begin(p, sets[0]);
    for (size_t at = 0; at < bytes;) {
        int n = utf8_check((const uint8_t *)text + at, bytes - at);
        uint32_t c = n > 0 ? utf8_decode((const uint8_t *)text + at, n) : 0xfffd;

        pattern_step(p, sets[now], c, sets[1 - now]);
        now = 1 - now;
        at += n > 0 ? (size_t)n : 1;
    }
    return pattern_ends(p, sets[now]);
}

size_t pattern_steps(const struct pattern *p, const char *text)
{
    size_t n = 0;

    for (; p != NULL; p = p->also) {
        n += (strlen(text) + 1) * (p->n_states / 64 + 1);
    }
    return n;
}

bool pattern_matches(const struct pattern *p, const char *text)
{
    for (; p != NULL; p = p->also) {
        if (one_matches(p, text) == p->absent) {
            return false;
        }
    }
    return true;
}
