/* The sets of adapters in use, and their work space. */
#include <assert.h>
#include <string.h>

#include "runtime/features/adapters/adapters_private.h"

struct lora *adapters_of_set(struct adapters *a, uint32_t set)
{
    return set < a->n_sets && a->sets[set].n != 0 ? &a->sets[set] : NULL;
}

struct lora *adapters_at_work(struct adapters *a)
{
    return adapters_of_set(a, 0);
}

/* Set up a set without its work space. */
static void set_uses(struct adapters *a, struct lora *l, const struct adapters_set *set)
{
    uint32_t ranks = 0;

    assert(set->n <= LORA_MOST);
    memset(l, 0, sizeof *l);
    for (uint32_t i = 0; i < set->n; i++) {
        struct adapters_entry *entry = adapters_entry(a, set->uses[i].name);

        assert(entry != NULL);
        entry->used = ++a->n_uses;
        l->uses[l->n++] = (struct lora_use){ &entry->adapter, set->uses[i].scale };
        ranks += entry->adapter.header->most_ranks;
    }
    l->stride = lora_stride(ranks);
}

static size_t work_bytes(const struct adapters *a, const struct lora *l)
{
    return (size_t)a->chunk * l->stride * sizeof(float);
}

/* Return the bytes of the adapters in any set and of the sets' work spaces. */
static size_t bytes_at_work(const struct adapters *a, size_t *work)
{
    size_t bytes = 0;

    *work = 0;
    for (uint32_t i = 0; i < a->n_sets; i++) {
        *work += work_bytes(a, &a->sets[i]);
    }
    for (uint32_t i = 0; i < ADAPTERS_MOST; i++) {
        if (a->entries[i].name[0] != '\0' && adapters_is_at_work(a, &a->entries[i])) {
            bytes += a->entries[i].bytes;
        }
    }
    return bytes + *work;
}

static void place_work(struct adapters *a, uint8_t *top)
{
    for (uint32_t i = 0; i < a->n_sets; i++) {
        top -= work_bytes(a, &a->sets[i]);
        a->sets[i].u = (void *)top;
    }
}

static const char *name_of(const struct adapters_set *sets, uint32_t n)
{
    uint32_t i = 0;

    while (i + 1 < n && sets[i].n == 0) {
        i++;
    }
    return sets[i].uses[0].name;
}

enum err adapters_use_sets(struct adapters *a, const struct adapters_set *sets, uint32_t n)
{
    struct lora before[ADAPTERS_SETS];
    uint8_t *top = (uint8_t *)a->memory.base + a->memory.bytes;
    uint32_t n_before = a->n_sets;
    size_t work;

    assert(n != 0 && n <= ADAPTERS_SETS);
    memcpy(before, a->sets, sizeof before);
    a->n_sets = n;
    for (uint32_t i = 0; i < n; i++) {
        set_uses(a, &a->sets[i], &sets[i]);
    }
    if (bytes_at_work(a, &work) > a->memory.bytes) {
        memcpy(a->sets, before, sizeof before);
        a->n_sets = n_before;
        return adapters_refuse(a, ERR_NO_SPACE, name_of(sets, n),
                               "there is no room for its work space: adapters=SIZE makes more");
    }
    while (work > (size_t)(top - a->end)) {
        bool gone = adapters_forget_oldest(a); /* adapters that are not in use take up the room */

        assert(gone);
        (void)gone;
    }
    place_work(a, top);
    return ERR_OK;
}

enum err adapters_use(struct adapters *a, const struct adapters_use *uses, uint32_t n)
{
    struct adapters_set set = { uses, n };

    return adapters_use_sets(a, &set, 1);
}
