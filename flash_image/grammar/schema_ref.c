/* References of a JSON Schema: JSON Pointers (RFC 6901), anchors, and names of embedded schemas. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/grammar/schema.h"
#include "runtime/text/hex_digit.h"

enum { URI_BYTES = 512, DEPTH_MOST = 128 };

/* ---- URIs -------------------------------------------------------------------------------- */

/* Decode the text in place: %41 is A. */
static void decode_percent(char *s)
{
    char *to = s;

    while (*s != '\0') {
        if (s[0] == '%' && hex_digit(s[1]) >= 0 && hex_digit(s[2]) >= 0) {
            *to++ = (char)(hex_digit(s[1]) * 16 + hex_digit(s[2]));
            s += 3;
        } else {
            *to++ = *s++;
        }
    }
    *to = '\0';
}

static bool has_scheme(const char *uri)
{
    size_t n = strcspn(uri, ":/?#");

    return n != 0 && uri[n] == ':';
}

/* Resolve a reference without its fragment against the base: RFC 3986, section 5.2, without dots in
 * paths. */
static void join(char out[URI_BYTES], const char *base, const char *ref, size_t n)
{
    const char *path = strstr(base, "://");
    size_t keep;

    if (n == 0) {
        snprintf(out, URI_BYTES, "%.*s", (int)strcspn(base, "#"), base);
        return;
    }
    path = path != NULL ? path + 3 + strcspn(path + 3, "/") : base;
    if (has_scheme(ref)) {
        keep = 0;
    } else if (ref[0] == '/') {
        keep = (size_t)(path - base);
    } else {
        const char *slash = strrchr(base, '/');

        keep = slash != NULL && slash >= path ? (size_t)(slash - base) + 1 : 0;
        if (keep == 0 && strncmp(base, "urn:", 4) != 0 && path != base) {
            keep = strlen(base);
        }
    }
    if (keep >= URI_BYTES) {
        keep = 0;
    }
    snprintf(out, URI_BYTES, "%.*s%.*s", (int)keep, base, (int)n, ref);
}

/* ---- places in the document --------------------------------------------------------------- */

static const char *id_of(const cJSON *schema)
{
    const char *id = cJSON_GetStringValue(schema_get(schema, "$id"));

    return id != NULL && id[0] != '#' ? id : NULL;
}

/* A search of the document. At each value the search knows the URI of the schema around it. It sets
 * `result` to the resource that contains `node`, or whose URI is `uri`. */
struct search {
    const cJSON *node;  /* if not NULL: search for the resource with this value */
    const char *uri;    /* if not NULL: search for the resource with this URI */
    const char *anchor; /* in `inside`, or NULL */
    const cJSON *result;
    char base[URI_BYTES]; /* of the result */
    unsigned steps;
};

static bool is_anchor(const cJSON *at, const char *anchor)
{
    static const char *const names[] = { "$anchor", "$dynamicAnchor", "$id", "id" };

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *name = cJSON_GetStringValue(schema_get(at, names[i]));

        if (name != NULL && strcmp(i < 2 ? name : name + (name[0] == '#'), anchor) == 0 &&
            (i < 2 || name[0] == '#')) {
            return true;
        }
    }
    return false;
}

/* Values of enum and const are not schemas. */
static bool is_data(const cJSON *at)
{
    return at->string != NULL &&
           (strcmp(at->string, "enum") == 0 || strcmp(at->string, "const") == 0);
}

static void search(struct search *s, const cJSON *at, const cJSON *resource, const char *base,
                   unsigned depth)
{
    char own[URI_BYTES];
    const cJSON *child;

    if (s->result != NULL || depth == DEPTH_MOST || s->steps++ > 100000) {
        return;
    }
    if (cJSON_IsObject(at) && id_of(at) != NULL) {
        join(own, base, id_of(at), strcspn(id_of(at), "#"));
        if (s->anchor != NULL && depth != 0) {
            return; /* another resource, with its own anchors */
        }
        base = own;
        resource = at;
    }
    if (at == s->node || (s->uri != NULL && resource == at && strcmp(s->uri, base) == 0) ||
        (s->anchor != NULL && cJSON_IsObject(at) && is_anchor(at, s->anchor))) {
        s->result = s->node != NULL ? resource : at;
        snprintf(s->base, URI_BYTES, "%s", base);
        return;
    }
    for (child = at->child; child != NULL; child = child->next) {
        if (!is_data(child) || at == s->node) {
            search(s, child, resource, base, depth + 1);
        }
    }
}

static const cJSON *element(const cJSON *list, const char *number)
{
    size_t n = strspn(number, "0123456789");

    if (n == 0 || n > 6 || number[n] != '\0' || (number[0] == '0' && n != 1)) {
        return NULL;
    }
    return cJSON_GetArrayItem(list, atoi(number));
}

/* Decode the text in place: ~1 is /, ~0 is ~. */
static void decode_token(char *s)
{
    char *to = s;

    for (; *s != '\0'; s++) {
        bool escape = s[0] == '~' && (s[1] == '0' || s[1] == '1');

        *to++ = escape ? (s[1] == '1' ? '/' : '~') : *s;
        s += escape;
    }
    *to = '\0';
}

static const cJSON *follow(const cJSON *at, char *pointer)
{
    while (at != NULL && *pointer == '/') {
        char *token = ++pointer, *end = token + strcspn(token, "/"), after = *end;

        *end = '\0';
        pointer = end;
        decode_token(token);
        at = cJSON_IsArray(at) ? element(at, token) : schema_get(at, token);
        *end = after;
    }
    return *pointer == '\0' ? at : NULL;
}

const cJSON *schema_resolve(const cJSON *root, const cJSON *from, const char *ref)
{
    size_t n = strcspn(ref, "#");
    struct search s = { .node = from };
    const cJSON *resource = root;
    char *fragment, uri[URI_BYTES];

    search(&s, root, root, "", 0);
    resource = s.result != NULL ? s.result : root;
    if (n != 0) {
        struct search by_uri = { .uri = uri };

        join(uri, s.base, ref, n);
        if (strcmp(uri, s.base) != 0) {
            search(&by_uri, root, root, "", 0);
            resource = by_uri.result;
        }
    }
    if (resource == NULL || strlen(ref) >= URI_BYTES) {
        return NULL;
    }
    fragment = strdup(ref + n + (ref[n] == '#'));
    if (fragment == NULL) {
        return NULL;
    }
    decode_percent(fragment);
    if (fragment[0] != '\0' && fragment[0] != '/') {
        struct search by_name = { .anchor = fragment };

        search(&by_name, resource, resource, "", 0);
        resource = by_name.result;
    } else {
        resource = follow(resource, fragment);
    }
    free(fragment);
    return resource;
}

/* ---- paths ---------------------------------------------------------------------------------- */

static void put_token(struct text *out, const char *token)
{
    for (; *token != '\0'; token++) {
        if (*token == '~' || *token == '/') {
            text_put(out, *token == '~' ? "~0" : "~1");
        } else {
            text_add(out, token, 1);
        }
    }
}

static bool put_steps(const cJSON *at, const cJSON *wanted, struct text *out, unsigned depth)
{
    size_t before = out->n;
    const cJSON *child;
    unsigned i = 0;

    if (at == wanted || depth == DEPTH_MOST) {
        return at == wanted;
    }
    for (child = at->child; child != NULL; child = child->next, i++) {
        text_put(out, "/");
        if (cJSON_IsArray(at)) {
            text_format(out, "%u", i);
        } else {
            put_token(out, child->string);
        }
        if (out->failed || put_steps(child, wanted, out, depth + 1)) {
            return true;
        }
        out->n = before;
        out->s[before] = '\0';
    }
    return false;
}

void schema_put_path(const cJSON *root, const cJSON *at, struct text *out)
{
    (void)put_steps(root, at, out, 0);
}
