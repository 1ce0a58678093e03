/* Filters that process the entries of a value. */
#include <string.h>

#include "flash_image/jinja/jinja_library.h"

/* Look up a path such as a.b.0 in an entry; an empty path gives the entry itself. */
static struct jinja_value look(struct jinja *j, struct jinja_value v, struct jinja_text path)
{
    while (path.bytes != 0) {
        size_t dot = jinja_find(path, jinja_text("."), 0);
        struct jinja_text name = { path.data, dot == SIZE_MAX ? path.bytes : dot };
        size_t used = name.bytes < path.bytes ? name.bytes + 1 : name.bytes;
        int64_t n = 0;
        size_t i = 0;

        jinja_step(j);
        while (i < name.bytes && i < 9 && name.data[i] >= '0' && name.data[i] <= '9') {
            n = n * 10 + (name.data[i++] - '0');
        }
        v = name.bytes != 0 && i == name.bytes ? jinja_index(j, v, jinja_int(n))
                                               : jinja_index(j, v, jinja_string(name));
        path.data += used;
        path.bytes -= used;
    }
    return v;
}

/* ---- order ----------------------------------------------------------------------------------- */

static struct jinja_value sort_key(struct jinja *j, struct jinja_value v, struct jinja_text by,
                                   bool folds)
{
    v = look(j, v, by);
    if (folds && v.kind == JINJA_STRING) {
        v.text = jinja_map_case(j, v.text, 'l');
    }
    return v;
}

/* Sort; equal entries keep their order. */
void jinja_sort(struct jinja *j, struct jinja_list *list, struct jinja_text by, bool folds,
                bool reverse)
{
    struct jinja_value keys = jinja_new_list(j, JINJA_LIST);

    for (size_t i = 0; i < list->n; i++) {
        jinja_append(j, keys.list, sort_key(j, list->item[i], by, folds));
    }
    for (size_t i = 1; i < list->n; i++) {
        struct jinja_value key = keys.list->item[i], item = list->item[i];
        size_t at = i;

        for (; at > 0; at--) {
            int order = jinja_compare(j, keys.list->item[at - 1], key);

            jinja_step(j);
            if (reverse ? order >= 0 : order <= 0) {
                break;
            }
            keys.list->item[at] = keys.list->item[at - 1];
            list->item[at] = list->item[at - 1];
        }
        keys.list->item[at] = key;
        list->item[at] = item;
    }
}

static struct jinja_value copy_items(struct jinja *j, struct jinja_value v)
{
    struct jinja_value out = jinja_new_list(j, JINJA_LIST);
    struct jinja_list *items = jinja_items(j, v);

    for (size_t i = 0; i < items->n; i++) {
        jinja_append(j, out.list, items->item[i]);
    }
    return out;
}

static struct jinja_value filter_sort(struct jinja *j, struct jinja_value v,
                                      const struct jinja_args *args)
{
    struct jinja_value out = copy_items(j, v);

    jinja_sort(j, out.list, jinja_words_of(j, args, 2, "attribute", ""),
               !jinja_flag(args, 1, "case_sensitive", false),
               jinja_flag(args, 0, "reverse", false));
    return out;
}

static struct jinja_value pairs_of(struct jinja *j, struct jinja_value v)
{
    struct jinja_value out = jinja_new_list(j, JINJA_LIST);

    if (v.kind == JINJA_UNDEFINED) {
        return out;
    }
    if (v.kind != JINJA_DICT) {
        jinja_fail(j, "a dict is needed, not a %s", jinja_kind_name(v));
    }
    for (size_t i = 0; i < v.dict->n; i++) {
        struct jinja_value pair = jinja_new_list(j, JINJA_TUPLE);

        jinja_append(j, pair.list, v.dict->key[i]);
        jinja_append(j, pair.list, v.dict->value[i]);
        jinja_append(j, out.list, pair);
    }
    return out;
}

static struct jinja_value filter_items(struct jinja *j, struct jinja_value v,
                                       const struct jinja_args *args)
{
    (void)args;
    return pairs_of(j, v);
}

static struct jinja_value filter_dictsort(struct jinja *j, struct jinja_value v,
                                          const struct jinja_args *args)
{
    struct jinja_value out = pairs_of(j, v);
    struct jinja_text by = jinja_words_of(j, args, 1, "by", "key");

    jinja_sort(j, out.list, jinja_text(jinja_text_is(by, "value") ? "1" : "0"),
               !jinja_flag(args, 0, "case_sensitive", false),
               jinja_flag(args, 2, "reverse", false));
    return out;
}

static struct jinja_value filter_reverse(struct jinja *j, struct jinja_value v,
                                         const struct jinja_args *args)
{
    struct jinja_list *items = jinja_items(j, v);
    struct jinja_value out = jinja_new_list(j, JINJA_LIST);
    struct jinja_buffer text = { 0 };

    (void)args;
    for (size_t i = items->n; i-- != 0;) {
        if (v.kind == JINJA_STRING) {
            jinja_write(j, &text, items->item[i].text);
        } else {
            jinja_append(j, out.list, items->item[i]);
        }
    }
    return v.kind == JINJA_STRING ? jinja_string(jinja_written(&text)) : out;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static bool holds(struct jinja *j, struct jinja_value v, const struct jinja_args *args, size_t from)
{
    struct jinja_args rest = { 0 };

    if (args->list.n <= from) {
        return jinja_truth(v);
    }
    for (size_t i = from + 1; i < args->list.n; i++) {
        jinja_append(j, &rest.list, args->list.item[i]);
    }
    return jinja_test(j, jinja_words_of(j, args, from, "", ""), v, &rest);
}

/* The filters select and reject or, if by_attribute is true, selectattr and rejectattr. */
static struct jinja_value choose(struct jinja *j, struct jinja_value v,
                                 const struct jinja_args *args, bool by_attribute, bool wanted)
{
    struct jinja_value out = jinja_new_list(j, JINJA_LIST);
    struct jinja_list *items = jinja_items(j, v);
    struct jinja_text path = { "", 0 };

    if (by_attribute) {
        path = jinja_words_of(j, args, 0, "attribute", "");
    }
    for (size_t i = 0; i < items->n; i++) {
        jinja_step(j);
        if (holds(j, look(j, items->item[i], path), args, by_attribute) == wanted) {
            jinja_append(j, out.list, items->item[i]);
        }
    }
    return out;
}

static struct jinja_value filter_select(struct jinja *j, struct jinja_value v,
                                        const struct jinja_args *args)
{
    return choose(j, v, args, false, true);
}

static struct jinja_value filter_reject(struct jinja *j, struct jinja_value v,
                                        const struct jinja_args *args)
{
    return choose(j, v, args, false, false);
}

static struct jinja_value filter_selectattr(struct jinja *j, struct jinja_value v,
                                            const struct jinja_args *args)
{
    return choose(j, v, args, true, true);
}

static struct jinja_value filter_rejectattr(struct jinja *j, struct jinja_value v,
                                            const struct jinja_args *args)
{
    return choose(j, v, args, true, false);
}

static struct jinja_value filter_map(struct jinja *j, struct jinja_value v,
                                     const struct jinja_args *args)
{
    const struct jinja_value *path = jinja_get_name(&args->named, jinja_text("attribute"));
    const struct jinja_value *otherwise = jinja_get_name(&args->named, jinja_text("default"));
    struct jinja_value out = jinja_new_list(j, JINJA_LIST);
    struct jinja_list *items = jinja_items(j, v);
    struct jinja_args rest = { 0 };

    for (size_t i = 1; i < args->list.n; i++) {
        jinja_append(j, &rest.list, args->list.item[i]);
    }
    rest.named = args->named;
    for (size_t i = 0; i < items->n; i++) {
        struct jinja_value item = items->item[i];

        jinja_step(j);
        if (path != NULL) {
            item = look(j, item, jinja_to_text(j, *path));
            item = item.kind == JINJA_UNDEFINED && otherwise != NULL ? *otherwise : item;
        } else {
            item = jinja_filter(j, jinja_words_of(j, args, 0, "filter", ""), item, &rest);
        }
        jinja_append(j, out.list, item);
    }
    return out;
}

static struct jinja_value filter_unique(struct jinja *j, struct jinja_value v,
                                        const struct jinja_args *args)
{
    struct jinja_value out = jinja_new_list(j, JINJA_LIST), seen = jinja_new_list(j, JINJA_LIST);
    struct jinja_text by = jinja_words_of(j, args, 1, "attribute", "");
    bool folds = !jinja_flag(args, 0, "case_sensitive", false);
    struct jinja_list *items = jinja_items(j, v);

    for (size_t i = 0; i < items->n; i++) {
        struct jinja_value key = sort_key(j, items->item[i], by, folds);

        if (!jinja_contains(j, seen, key)) {
            jinja_append(j, seen.list, key);
            jinja_append(j, out.list, items->item[i]);
        }
    }
    return out;
}

/* ---- results from all entries ---------------------------------------------------------------- */

static struct jinja_value end_of(struct jinja *j, struct jinja_value v, bool last)
{
    struct jinja_list *items = jinja_items(j, v);

    if (items->n == 0) {
        return jinja_undefined(jinja_text("an empty list has no first or last item"));
    }
    return items->item[last ? items->n - 1 : 0];
}

static struct jinja_value filter_first(struct jinja *j, struct jinja_value v,
                                       const struct jinja_args *args)
{
    (void)args;
    return end_of(j, v, false);
}

static struct jinja_value filter_last(struct jinja *j, struct jinja_value v,
                                      const struct jinja_args *args)
{
    (void)args;
    return end_of(j, v, true);
}

static struct jinja_value extreme(struct jinja *j, struct jinja_value v,
                                  const struct jinja_args *args, bool reverse)
{
    struct jinja_value all = copy_items(j, v);

    jinja_sort(j, all.list, jinja_words_of(j, args, 1, "attribute", ""),
               !jinja_flag(args, 0, "case_sensitive", false), reverse);
    return end_of(j, all, false);
}

static struct jinja_value filter_max(struct jinja *j, struct jinja_value v,
                                     const struct jinja_args *args)
{
    return extreme(j, v, args, true);
}

static struct jinja_value filter_min(struct jinja *j, struct jinja_value v,
                                     const struct jinja_args *args)
{
    return extreme(j, v, args, false);
}

static struct jinja_value filter_join(struct jinja *j, struct jinja_value v,
                                      const struct jinja_args *args)
{
    const struct jinja_value *by = jinja_argument(args, 0, "d");
    struct jinja_text between = by != NULL ? jinja_to_text(j, *by) : jinja_text("");
    struct jinja_text path = jinja_words_of(j, args, 1, "attribute", "");
    struct jinja_list *items = jinja_items(j, v);
    struct jinja_buffer out = { 0 };

    for (size_t i = 0; i < items->n; i++) {
        if (i != 0) {
            jinja_write(j, &out, between);
        }
        jinja_write_value(j, &out, look(j, items->item[i], path));
    }
    return jinja_string(jinja_written(&out));
}

static struct jinja_value filter_list(struct jinja *j, struct jinja_value v,
                                      const struct jinja_args *args)
{
    (void)args;
    return copy_items(j, v);
}

static struct jinja_value filter_batch(struct jinja *j, struct jinja_value v,
                                       const struct jinja_args *args)
{
    struct jinja_value out = jinja_new_list(j, JINJA_LIST), row = { .kind = JINJA_NONE };
    struct jinja_list *items = jinja_items(j, v);
    int64_t n = jinja_number(j, args, 0, "linecount", 1);
    const struct jinja_value *fill = jinja_argument(args, 1, "fill_with");

    for (size_t i = 0; i < items->n; i++) {
        if (n < 1 || i % (size_t)n == 0) {
            row = jinja_new_list(j, JINJA_LIST);
            jinja_append(j, out.list, row);
        }
        jinja_append(j, row.list, items->item[i]);
    }
    while (fill != NULL && row.kind == JINJA_LIST && (int64_t)row.list->n < n) {
        jinja_step(j);
        jinja_append(j, row.list, *fill);
    }
    return out;
}

static const struct {
    const char *name;
    struct jinja_value (*run)(struct jinja *j, struct jinja_value v, const struct jinja_args *args);
} filters[] = {
    { "sort", filter_sort },
    { "items", filter_items },
    { "dictsort", filter_dictsort },
    { "reverse", filter_reverse },
    { "select", filter_select },
    { "reject", filter_reject },
    { "selectattr", filter_selectattr },
    { "rejectattr", filter_rejectattr },
    { "map", filter_map },
    { "unique", filter_unique },
    { "first", filter_first },
    { "last", filter_last },
    { "max", filter_max },
    { "min", filter_min },
    { "join", filter_join },
    { "list", filter_list },
    { "batch", filter_batch },
};

struct jinja_value jinja_list_filter(struct jinja *j, struct jinja_text name, struct jinja_value v,
                                     const struct jinja_args *args, bool *found)
{
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        if (jinja_text_is(name, filters[i].name)) {
            *found = true;
            return filters[i].run(j, v, args);
        }
    }
    *found = false;
    return v;
}
