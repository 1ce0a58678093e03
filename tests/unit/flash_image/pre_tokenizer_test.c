/* docs/TOKENIZERS.md lists the table of pre-tokenizers: every name of every kind, every refused one
 * with its reason, and nothing else. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/source/pre_tokenizer.h"
#include "tests/unit/tap.h"

static char page[1 << 16];

static bool read_page(void)
{
    FILE *f = fopen("docs/TOKENIZERS.md", "rb");
    size_t n = f != NULL ? fread(page, 1, sizeof page - 1, f) : 0;

    page[n] = '\0';
    if (f != NULL) {
        fclose(f);
    }
    return n > 0;
}

/* Finds rows whose first cell begins as `is` wants. */
static size_t count_rows(const char *start, int (*is)(int))
{
    size_t n = 0;

    for (const char *at = page; (at = strstr(at, start)) != NULL; at++) {
        n += is((unsigned char)at[strlen(start)]) != 0;
    }
    return n;
}

static void test_kind(const struct pre_tokenizer *kind)
{
    char row[1024];
    size_t used = (size_t)snprintf(row, sizeof row, "\n| %u |", (unsigned)kind->pre);

    for (size_t i = 0; i < PRE_TOKENIZER_MOST_NAMES && kind->names[i].name != NULL; i++) {
        used += (size_t)snprintf(row + used, sizeof row - used, "%s `%s`", i > 0 ? "," : "",
                                 kind->names[i].name);
    }
    snprintf(row + used, sizeof row - used, " |");
    OK(strstr(page, row) != NULL, "the page has%s", row + 1);
}

static void test_names(const struct pre_tokenizer *kind)
{
    bool good = kind->steps[0] != NULL;

    for (size_t i = 0; i < PRE_TOKENIZER_MOST_NAMES && kind->names[i].name != NULL; i++) {
        const char *name = kind->names[i].name, *other, *why;
        enum ingot_pre pre = INGOT_PRE_NONE;
        uint32_t flags = 99;

        good = good &&
               pre_tokenizer_find((struct source_text){ (const uint8_t *)name, strlen(name) }, &pre,
                                  &flags) &&
               pre == kind->pre && flags == kind->names[i].flags;
        for (size_t r = 0; (other = pre_tokenizer_refused(r, &why)) != NULL; r++) {
            good = good && strcmp(name, other) != 0;
        }
    }
    for (size_t i = 0; i < PRE_TOKENIZER_MOST_SPELLINGS && kind->steps[i] != NULL; i++) {
        enum ingot_pre pre = INGOT_PRE_NONE;

        good = good && pre_tokenizer_find_steps(kind->steps[i], false, &pre) && pre == kind->pre &&
               pre_tokenizer_find_steps(kind->steps[i], true, &pre) == kind->covers;
    }
    OK(good, "%s: each name and each list of steps leads to this kind", kind->names[0].name);
}

int main(void)
{
    const struct pre_tokenizer *kind;
    const char *name, *why;
    char row[512];
    size_t n = 0, n_refused = 0;

    OK(read_page(), "docs/TOKENIZERS.md is there");
    for (; (kind = pre_tokenizer_kind(n)) != NULL; n++) {
        test_kind(kind);
        test_names(kind);
    }
    for (; (name = pre_tokenizer_refused(n_refused, &why)) != NULL; n_refused++) {
        snprintf(row, sizeof row, "\n| `%s` | %s |", name, why);
        OK(strstr(page, row) != NULL, "the page has%s", row + 1);
    }
    OK(n == INGOT_N_PRES - 1, "every kind but \"none\" has a row");
    OK(count_rows("\n| ", isdigit) == n, "the page has no other names");
    OK(strstr(page, "refused names") != NULL && count_rows("\n| `", islower) == n_refused,
       "the page has no other refused names");
    OK(strlen(pre_tokenizer_names()) < 400, "all names together fit in a sentence");
    return tap_done();
}
