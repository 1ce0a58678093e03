#include "host/voice/voice_hear.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/voice/voice_speak.h"

/* Recognizers, the best first; `test` is a shell command that succeeds if the recognizer exists. */
struct recognizer {
    const char *name, *test, *command;
    bool stays;
};

/* INGOT_WHISPER is a folder with a model, or the name of a model that faster-whisper knows. */
#define WHISPER \
    "import os,sys; from faster_whisper import WhisperModel; m = WhisperModel(os.environ.get(\"INGOT_WHISPER\", \"base.en\"), " \
    "device=\"cpu\", compute_type=\"int8\"); [print(*\" \".join(s.text for s in m.transcribe(path.rstrip(\"\\n\"), language=\"en\", " \
    "beam_size=5)[0]).split(), flush=True) for path in sys.stdin]"

static const struct recognizer recognizers[] = {
    { "whisper", "python3 -c 'import faster_whisper' 2>/dev/null", "exec python3 -c '" WHISPER "'",
      true },
    { "whisper.cpp", "command -v whisper-cli >/dev/null && test -f \"$INGOT_WHISPER\"",
      "whisper-cli -m \"$INGOT_WHISPER\" -np -nt -f {}", false },
    { "moonshine", "python3 -c 'import moonshine_onnx' 2>/dev/null",
      "python3 -c 'import sys, moonshine_onnx as m; print(\" \".join(m.transcribe(sys.argv[1], \"moonshine/base\")))' {}",
      false },
    { "pocketsphinx", "command -v pocketsphinx_continuous >/dev/null",
      "pocketsphinx_continuous -infile {} -logfn /dev/null", false },
};
enum { RECOGNIZERS = sizeof recognizers / sizeof recognizers[0] };

static bool is_there(const struct recognizer *r)
{
    return voice_run(r->test, "", "", 0, NULL);
}

static bool is_address(const char *stt)
{
    return strncmp(stt, "http://", 7) == 0 || strncmp(stt, "https://", 8) == 0;
}

/* Write the command that sends the file as form data, which OpenAI's API requires. */
static const char *ask_server(const char *address, char command[VOICE_COMMAND_BYTES],
                              const char **error_message)
{
    const char *path = strstr(address, "/audio/transcriptions") != NULL ? ""
                       : strstr(address, "/v1") != NULL                 ? "/audio/transcriptions"
                                                        : "/v1/audio/transcriptions";
    size_t bytes = strlen(address);
    int n;

    while (bytes != 0 && address[bytes - 1] == '/') {
        bytes--;
    }
    n = snprintf(command, VOICE_COMMAND_BYTES,
                 "curl -sS --fail-with-body --max-time 60 -F file=@{} -F response_format=text -F "
                 "\"model=${INGOT_STT_MODEL:-whisper-1}\" "
                 "-H \"Authorization: Bearer ${OPENAI_API_KEY:-none}\" '%.*s%s'",
                 (int)bytes, address, path);
    if (strchr(address, '\'') != NULL || n < 0 || n >= VOICE_COMMAND_BYTES) {
        *error_message = "the address of a server is too long, or has a quotation mark";
        return NULL;
    }
    return command;
}

bool voice_hear_find(struct voice_hearer *h, const char *stt, const char **error_message)
{
    *h = (struct voice_hearer){ .command = stt };
    if (stt != NULL && is_address(stt)) {
        h->name = stt;
        h->command = ask_server(stt, h->text, error_message);
        return h->command != NULL;
    }
    for (size_t i = 0; i < RECOGNIZERS; i++) {
        const struct recognizer *r = &recognizers[i];
        bool named = stt != NULL && strcmp(stt, r->name) == 0;

        if (named && !is_there(r)) {
            *error_message = "it is not installed: docs/VOICE.md says how to install it";
            return false;
        }
        if (named || (stt == NULL && is_there(r))) {
            *h = (struct voice_hearer){ .name = r->name, .command = r->command, .stays = r->stays };
            return true;
        }
    }
    if (stt == NULL) {
        *error_message =
            "no recognizer is installed: pip install faster-whisper, or install pocketsphinx and "
            "pocketsphinx-en-us, or name a server or a program with --stt";
    }
    return stt != NULL;
}

/* ---- a recognizer that stays ----------------------------------------------------------------- */

bool voice_hear_open(struct voice_hearer *h)
{
    int ends[2];

    if (!h->stays) {
        return true;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return false;
    }
    h->child = fork();
    if (h->child == 0) {
        /* Only this program handles Ctrl-C; it then closes the socket. */
        signal(SIGINT, SIG_IGN);
        voice_become(h->command, ends[0], ends[0]);
    }
    close(ends[0]);
    h->fd = ends[1];
    return h->child > 0;
}

/* With MSG_NOSIGNAL, a recognizer that has ended causes an error, not a signal. */
static bool send_line(int fd, const char *path)
{
    char line[1024];
    int n = snprintf(line, sizeof line, "%s\n", path);

    return n > 0 && (size_t)n < sizeof line && send(fd, line, (size_t)n, MSG_NOSIGNAL) == n;
}

bool voice_hear(struct voice_hearer *h, const char *path, struct api_text *said)
{
    char some[4096];
    ssize_t n = 0;

    if (!h->stays) {
        return voice_run(h->command, path, "", 0, said);
    }
    if (!send_line(h->fd, path)) {
        return false;
    }
    do {
        n = recv(h->fd, some, sizeof some, 0);
        if (n > 0) {
            (void)serve_text_add(said, some, (size_t)n);
        }
    } while (n > 0 && some[n - 1] != '\n');
    return n > 0;
}

void voice_hear_close(struct voice_hearer *h)
{
    if (h->child > 0) {
        close(h->fd);
        (void)kill(h->child, SIGTERM); /* the recognizer may still be loading its model */
        (void)waitpid(h->child, NULL, 0);
    }
}
