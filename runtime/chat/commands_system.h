/* The commands of the chat that concern the machine and the model, not what is said
 * (commands_system.c); commands.c alone includes it. */
#ifndef INGOT_RUNTIME_COMMANDS_SYSTEM_H
#define INGOT_RUNTIME_COMMANDS_SYSTEM_H

#include "runtime/chat/commands.h"

enum command_result command_models(struct chat *c, char *argument);
enum command_result command_model(struct chat *c, char *argument);
enum command_result command_save(struct chat *c, char *argument);
enum command_result command_load(struct chat *c, char *argument);
enum command_result command_stats(struct chat *c, char *argument);
enum command_result command_plan(struct chat *c, char *argument);
enum command_result command_bench(struct chat *c, char *argument);
enum command_result command_selftest(struct chat *c, char *argument);
enum command_result command_log(struct chat *c, char *argument);
enum command_result command_reboot(struct chat *c, char *argument);
enum command_result command_off(struct chat *c, char *argument);

#endif
