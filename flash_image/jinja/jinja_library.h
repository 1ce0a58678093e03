/* Filters, tests and methods by name. */
#ifndef INGOT_FLASH_IMAGE_JINJA_LIBRARY_H
#define INGOT_FLASH_IMAGE_JINJA_LIBRARY_H

#include "flash_image/jinja/jinja_text.h"

/* Apply a filter to a value, or return whether a test is true of it. Unknown names fail. */
struct jinja_value jinja_filter(struct jinja *j, struct jinja_text name, struct jinja_value v,
                                const struct jinja_args *args);
bool jinja_test(struct jinja *j, struct jinja_text name, struct jinja_value v,
                const struct jinja_args *args);

/* Return the entry `of.name`, `of["name"]` or `of[1]`, or an undefined value if `of` has no such
 * entry. */
struct jinja_value jinja_attribute(struct jinja *j, struct jinja_value of, struct jinja_text name);
struct jinja_value jinja_index(struct jinja *j, struct jinja_value of, struct jinja_value key);

/* True if values of this kind have a method of that name; the next function calls it. */
bool jinja_has_method(struct jinja_value of, struct jinja_text name);
struct jinja_value jinja_call_method(struct jinja *j, const struct jinja_method *m,
                                     const struct jinja_args *args);

bool jinja_is_text_method(struct jinja_text name);
struct jinja_value jinja_call_text_method(struct jinja *j, struct jinja_text t,
                                          struct jinja_text name, const struct jinja_args *args);

/* Return argument number i, or the argument called `name`; NULL: neither is given. */
const struct jinja_value *jinja_argument(const struct jinja_args *args, size_t i, const char *name);
bool jinja_flag(const struct jinja_args *args, size_t i, const char *name, bool otherwise);
int64_t jinja_number(struct jinja *j, const struct jinja_args *args, size_t i, const char *name,
                     int64_t otherwise);
struct jinja_text jinja_words_of(struct jinja *j, const struct jinja_args *args, size_t i,
                                 const char *name, const char *otherwise);

/* Remove the characters of `set` (white space if `set` is empty) from the ends of a text. */
struct jinja_text jinja_strip(struct jinja_text t, struct jinja_text set, bool left, bool right);
struct jinja_text jinja_replace(struct jinja *j, struct jinja_text t, struct jinja_text old,
                                struct jinja_text new_text, int64_t most);
struct jinja_text jinja_map_case(struct jinja *j, struct jinja_text t, char how);

/* Return "%s" % x, or "{}".format(x). */
struct jinja_value jinja_percent(struct jinja *j, struct jinja_text format, struct jinja_value v);
struct jinja_value jinja_format(struct jinja *j, struct jinja_text format,
                                const struct jinja_args *args);

/* Return v as JSON, as json.dumps() writes it. */
struct jinja_value jinja_to_json(struct jinja *j, struct jinja_value v,
                                 const struct jinja_args *args);

/* Sort the entries; if `by` is not empty, sort them by this attribute. */
void jinja_sort(struct jinja *j, struct jinja_list *list, struct jinja_text by, bool folds,
                bool reverse);

/* Apply a filter of lists; *found is false if no such filter has the name. */
struct jinja_value jinja_list_filter(struct jinja *j, struct jinja_text name, struct jinja_value v,
                                     const struct jinja_args *args, bool *found);

#endif
