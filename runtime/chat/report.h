/* A model as a person sees it: its line in the log, the plan's table, the figures of a reply. */
#ifndef INGOT_RUNTIME_REPORT_H
#define INGOT_RUNTIME_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/console/console.h"
#include "runtime/model/model.h"
#include "runtime/session/generate.h"
#include "runtime/text/format_text.h"

/* Log the kernels in use, "kernels: neon dotprod, prefetch 768 B". */
void report_kernels(struct console *c, uint32_t features, size_t ahead);

/* Run selftest_run and log its lines; Ctrl-C stops it between two kernels. */
bool report_selftest(struct console *c, struct kernels *k, uint32_t features, uint64_t seed,
                     struct memory_range work);

/* Log the clock, the temperature and the causes that slow the cores, if the board knows them. */
void report_health(struct console *c);

/* Log the model and the plan in a few lines, for the first screen. name: the name by which /model
 * knows the model, here and below. */
void report_summary(struct console *c, const struct model *m, const char *name);

/* Log which key has signed the model, and how long the check took. */
void report_signature(struct console *c, const struct model *m);

/* Log the model's line and the plan's table: region, bytes, contents. */
void report_model(struct console *c, const struct model *m, const char *name);
void report_plan(struct console *c, const struct model *m);

/* For boards: log the rates that the plan used, if they were measured, and the times that the plan
 * predicts. */
void report_rates(struct console *c, const struct model *m);

/* Log the time until the prompt (without the time for loading), the time for loading (load_ms), and
 * the card's rate for weights. since_ms: the time of the command /model, or 0 for the machine's
 * start. */
void report_ready(struct console *c, const struct model *m, uint64_t since_ms, uint64_t load_ms);

/* Log how much RAM a draft takes; call this before the model's plan is logged. */
void report_draft(struct console *c, const struct model *m, const char *name);

/* Log the largest use of each region. */
void report_high_water(struct console *c, const struct model *m);

/* Print the closing line of a reply: "[5 prompt + 59 new tokens, ...]", with the board's
 * temperature and what slows its cores, if the board knows. */
void report_stats(struct console *c, const struct model *m, const struct generate_result *r);

/* For a model with a cache of experts. report_experts prints the cache's part of a reply's closing
 * line; report_expert_layers prints the lines of /stats for each layer. */
void report_experts(struct console *c, const struct stream_stats *now,
                    const struct generate_result *r);
void report_expert_layers(struct console *c, const struct model *m);

/* For a plan with a cache of experts: write how often the experts of a token are in the cache, also
 * for other cache sizes. */
void report_experts_plan(const struct plan *p, const struct image *image, char *text, size_t bytes);

/* Write a temperature, "-3.5". Returns text. */
const char *report_temperature(char text[FORMAT_NUMBER_BYTES], int32_t millidegrees);

/* ids=: print the reply's ids that are still in the session, and the hash of its logits. ticks=,
 * for `make bench`: print times before they are rounded. */
void report_ids(struct console *c, const struct session *s, const struct generate_result *r);
void report_ticks(struct console *c, const struct generate_result *r);

#endif
