/* The nearest name: mistakes of each kind, beginnings, ties, and words without a near name. */
#include "runtime/text/nearest.h"

#include <string.h>

#include "tests/unit/tap.h"

static const char *const names[] = { "mode",  "model", "n",    "mem",    "temp",        "top_p",
                                     "top_k", "stop",  "spec", "system", "context-size" };

static const char *near(const char *word, size_t bytes)
{
    struct nearest n;

    nearest_begin(&n, word, bytes);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        nearest_offer(&n, names[i]);
    }
    if (n.name == NULL) {
        return "none";
    }
    return n.name;
}

static void check(const char *word, const char *wanted)
{
    const char *name = near(word, strlen(word));

    OK(strcmp(name, wanted) == 0, "the nearest to %s is %s (%s)", word, wanted, name);
}

int main(void)
{
    check("modle", "model"); /* a swap, and one too many of mode */
    check("moel", "model");
    check("modell", "model"); /* mode begins it as well */
    check("tmp", "temp");
    check("tenp", "temp");
    check("temperature", "temp");
    check("sys", "system");
    check("Top-P", "top_p");
    check("top_k", "top_k");
    check("sytsme", "system");
    check("context_sise", "context-size");
    check("m", "none");
    check("xyz", "none");
    check("mxx", "none");    /* two wrong of three */
    check("top_q", "top_p"); /* the first of two */
    check("tpxmq", "none");
    check("", "none");
    check("context-size-of-the-model-that-runs", "none");
    OK(strcmp(near("stopxyz", 4), "stop") == 0, "a word ends where its bytes do");
    return tap_done();
}
