/* The speech recognizer: a server, a recognizer found on this computer, or a command. */
#ifndef INGOT_HOST_VOICE_HEAR_H
#define INGOT_HOST_VOICE_HEAR_H

#include <stdbool.h>
#include <stddef.h>

enum { VOICE_COMMAND_BYTES = 1024 };

/* The shell command for --stt, in which {} is a WAV file: for "http://..." or "https://..." a server with
 * /v1/audio/transcriptions, for a name its recognizer, for NULL the best one found here, else the given command. *name: its
 * name, NULL: it is a command. NULL: there is none; *error_message says why. */
const char *voice_hear_command(const char *stt, char command[VOICE_COMMAND_BYTES],
                               const char **name, const char **error_message);

#endif
