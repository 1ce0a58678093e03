/* The official JSON-Schema-Test-Suite, drafts 7 and 2020-12, as `make setup` puts it into build/clients: for each schema and
 * instance, the grammar and the later check refuse invalid instances, and the grammar allows valid ones, except those in the
 * table. `--table` prints the table of docs/GRAMMARS.md. */
#include <dirent.h>
#include <sys/stat.h>

#include "flash_image/grammar/schema.h"
#include "tests/unit/grammar/compiled.h"

enum { FILES_MOST = 200, PATH_BYTES = 1000, FOLDER_BYTES = 500 };

struct tally {
    char name[80];
    unsigned n, narrow, named,
        wrong; /* instances; valid and refused; invalid and allowed, with a note and without */
};

/* The known failures: numbers beyond 2^53, identifiers outside of schemas, resources that a reference changes. */
static const struct {
    const char *name;
    unsigned wrong;
} known[] = {
    { "draft7/const", 2 },
    { "draft7/ref", 1 },
    { "draft7/unknownKeyword", 1 },
    { "draft2020-12/const", 2 },
    { "draft2020-12/dynamicRef", 1 },
    { "draft2020-12/unknownKeyword", 1 },
};

static unsigned known_wrong(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) == 0) {
            return known[i].wrong;
        }
    }
    return 0;
}

static struct tally tallies[FILES_MOST];
static unsigned n_tallies,
    n_one_form; /* n_one_form: values that are allowed in only one of their forms */
static struct grammar_notes notes;
static bool shown;

/* Compiles a schema to the grammar `compiled`. */
enum state { HELD, NEVER, FAILED };

static enum state compile_one(const char *text)
{
    const struct grammar_schema one = { .text = text };
    char *gbnf = NULL, error_message[GRAMMAR_ERROR_MESSAGE_BYTES];
    unsigned rule = 0;
    enum state state = FAILED;

    memset(&notes, 0, sizeof notes);
    if (grammar_gbnf_of_schemas("root ::= r0\n", &one, 1, &rule, &notes, &gbnf, error_message) ==
        ERR_OK) {
        state = rule == GRAMMAR_NO_RULE ? NEVER : compile_gbnf(gbnf) ? HELD : FAILED;
    }
    free(gbnf);
    return state;
}

/* The members that a schema describes first, in its order. */
static void reorder(cJSON *value, const cJSON *schema)
{
    const cJSON *property;
    cJSON *moved, *rest = cJSON_CreateObject();

    cJSON_ArrayForEach(property, schema_get(schema, "properties"))
    {
        moved = cJSON_DetachItemFromObjectCaseSensitive(value, property->string);
        if (moved != NULL) {
            cJSON_AddItemToObject(rest, property->string, moved);
        }
    }
    while (value->child != NULL) {
        char name[200];

        snprintf(name, sizeof name, "%s", value->child->string);
        moved = cJSON_DetachItemViaPointer(value, value->child);
        cJSON_AddItemToObject(rest, name, moved);
    }
    value->child = rest->child;
    rest->child = NULL;
    cJSON_Delete(rest);
}

/* Texts that are allowed without white space are also allowed in lines with tabs before the
 * members. */
static bool allows_both_forms(const cJSON *value)
{
    char *compact = cJSON_PrintUnformatted(value), *lines = cJSON_Print(value);
    bool allowed = matches(compact);

    for (char *s = lines; (s = strstr(s, ":\t")) != NULL;) {
        s[1] = ' ';
    }
    if (allowed != matches(lines)) {
        printf("# one of two forms is allowed: %s\n", lines);
        n_one_form++;
    }
    free(compact);
    free(lines);
    return allowed;
}

static bool allows(const cJSON *schema, const cJSON *data)
{
    cJSON *copy = cJSON_Duplicate(data, true);
    bool allowed = allows_both_forms(copy);

    if (!allowed && cJSON_IsObject(copy)) {
        reorder(copy, schema);
        allowed = allows_both_forms(copy);
    }
    cJSON_Delete(copy);
    return allowed;
}

static bool has_unchecked(void)
{
    for (unsigned i = 0; i < notes.n; i++) {
        if (!notes.list[i].checked) {
            return true;
        }
    }
    return notes.more != 0;
}

static void try_instance(struct tally *t, const cJSON *group, const char *schema, enum state state,
                         const cJSON *test)
{
    const cJSON *data = schema_get(test, "data");
    char *text = cJSON_PrintUnformatted(data), error_message[GRAMMAR_ERROR_MESSAGE_BYTES];
    bool valid = cJSON_IsTrue(schema_get(test, "valid")),
         checked = grammar_check_value(schema, text, strlen(text), error_message),
         allowed = state == FAILED || (state == HELD && allows(schema_get(group, "schema"), data));

    t->n++;
    if (valid && !(allowed && checked)) {
        t->narrow++;
    } else if (!valid && allowed && checked && has_unchecked()) {
        t->named++;
    } else if (!valid && allowed && checked) {
        t->wrong++;
    }
    if (shown && (valid ? !(allowed && checked) : allowed && checked)) {
        printf("# %s: %s: %s: %s (%s)\n", t->name, schema_get(group, "description")->valuestring,
               schema_get(test, "description")->valuestring, valid ? "refused" : "allowed",
               valid && !checked ? error_message : "");
    }
    free(text);
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    size_t n = f != NULL && text != NULL ? fread(text, 1, (1 << 20) - 1, f) : 0;

    if (f != NULL) {
        fclose(f);
    }
    if (n == 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void try_file(const char *folder, const char *name, const char *draft)
{
    struct tally *t = &tallies[n_tallies++];
    char path[PATH_BYTES], *text;
    const cJSON *group, *test;
    cJSON *root;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(t->name, sizeof t->name, "%s/%.*s", draft, (int)(strlen(name) - 5) % 60, name);
    text = read_all(path);
    root = text != NULL ? cJSON_Parse(text) : NULL;
    cJSON_ArrayForEach(group, root)
    {
        char *schema = cJSON_PrintUnformatted(schema_get(group, "schema"));
        enum state state = compile_one(schema);

        cJSON_ArrayForEach(test, schema_get(group, "tests"))
        {
            try_instance(t, group, schema, state, test);
        }
        free(schema);
    }
    cJSON_Delete(root);
    free(text);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_json(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 5 && strcmp(d->d_name + n - 5, ".json") == 0;
}

static void try_draft(const char *suite, const char *draft)
{
    char folder[FOLDER_BYTES];
    struct dirent **files;
    int n;

    snprintf(folder, sizeof folder, "%s/%s", suite, draft);
    n = scandir(folder, &files, is_json, by_name);
    for (int i = 0; i < n; i++) {
        if (n_tallies < FILES_MOST) {
            try_file(folder, files[i]->d_name, draft);
        }
        free(files[i]);
    }
    if (n >= 0) {
        free(files);
    }
}

static void print_table(void)
{
    struct tally all = { .n = 0 };

    printf(
        "| file of the suite | instances | valid but refused | invalid but allowed, with a warning | "
        "invalid but allowed, without one |\n|---|---|---|---|---|\n");
    for (unsigned i = 0; i < n_tallies; i++) {
        const struct tally *t = &tallies[i];

        all.n += t->n;
        all.narrow += t->narrow;
        all.named += t->named;
        all.wrong += t->wrong;
        if (t->narrow + t->named + t->wrong != 0) {
            printf("| %s | %u | %u | %u | %u |\n", t->name, t->n, t->narrow, t->named, t->wrong);
        }
    }
    printf("| all %u files | %u | %u | %u | %u |\n", n_tallies, all.n, all.narrow, all.named,
           all.wrong);
}

int main(int argc, char **argv)
{
    const char *build = getenv("INGOT_BUILD");
    char suite[FOLDER_BYTES / 2];
    struct stat st;
    unsigned narrow = 0, n = 0;

    shown = argc > 1 && strcmp(argv[1], "--show") == 0;
    snprintf(suite, sizeof suite, "%s/clients/json-schema-test-suite",
             build != NULL ? build : "build");
    if (stat(suite, &st) != 0) {
        printf("1..0 # SKIP the JSON-Schema-Test-Suite is not there: make setup brings it\n");
        return 0;
    }
    try_draft(suite, "draft7");
    try_draft(suite, "draft2020-12");
    if (argc > 1 && strcmp(argv[1], "--table") == 0) {
        print_table();
        free(compiled_memory);
        return 0;
    }
    for (unsigned i = 0; i < n_tallies; i++) {
        const struct tally *t = &tallies[i];

        OK(t->n != 0 && t->wrong <= known_wrong(t->name),
           "%s: of %u instances %u are allowed and not valid, as is known", t->name, t->n,
           t->wrong);
        narrow += t->narrow;
        n += t->n;
    }
    OK(n_one_form == 0, "%u values are allowed in one line or in several, and not in both",
       n_one_form);
    OK(n > 1500 && narrow * 5 < n, "%u of %u instances are valid and not allowed", narrow, n);
    free(compiled_memory);
    return tap_done();
}
