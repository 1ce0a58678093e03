/* The commands, for the table in commands.c: about the conversation (commands_chat.c), its
 * settings (commands_settings.c), the lock (commands_lock.c), and the models and the machine
 * (commands_system.c). Features have their own. */
#ifndef INGOT_RUNTIME_COMMANDS_PRIVATE_H
#define INGOT_RUNTIME_COMMANDS_PRIVATE_H

#include "runtime/app/commands.h"

/* The names that /set takes, as the end of a sentence: "temp, top_p ... quiet or stop". */
#define COMMANDS_SETTINGS (commands_settings + 2)
extern const char commands_settings[]; /* with a comma and a space in front */

/* Return the console as the sink of error messages of options.h. */
struct options_report commands_report(struct app *a);

/* Find the file NAME.sav ("chat" for "") to save `bytes` to, or to load from if bytes is 0. Returns
 * NULL after printing the reason. */
const struct file *commands_find_save(struct app *a, const char *name, uint64_t bytes);
/* Print how a save ended, with a->saved.error_message; returns true if the file was saved. */
bool commands_was_saved(struct app *a, const struct file *file, enum err e);

/* Cut the first word off text and return it; *rest is the text after it, or "". */
char *commands_cut_word(char *text, char **rest);

enum command_result command_reset(struct app *a, char *argument);
enum command_result command_undo(struct app *a, char *argument);
enum command_result command_retry(struct app *a, char *argument);
enum command_result command_system(struct app *a, char *argument);
enum command_result command_save(struct app *a, char *argument);
enum command_result command_load(struct app *a, char *argument);

enum command_result command_lock(struct app *a, char *argument);
enum command_result command_unlock(struct app *a, char *argument);
/* Print the error for a command that a locked line may not use. */
void commands_refuse_locked(struct app *a, const char *name);

enum command_result command_mode(struct app *a, char *argument);
enum command_result command_set(struct app *a, char *argument);

enum command_result command_models(struct app *a, char *argument);
enum command_result command_model(struct app *a, char *argument);
enum command_result command_receive(struct app *a, char *argument);
enum command_result command_stats(struct app *a, char *argument);
enum command_result command_plan(struct app *a, char *argument);
enum command_result command_bench(struct app *a, char *argument);
enum command_result command_selftest(struct app *a, char *argument);
enum command_result command_log(struct app *a, char *argument);
enum command_result command_reboot(struct app *a, char *argument);
enum command_result command_off(struct app *a, char *argument);
enum command_result command_exit(struct app *a, char *argument);

#endif
