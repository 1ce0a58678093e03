/* Signals that ask a program to end, as a closed window does: the far end of a line is put back first. */
#ifndef INGOT_HOST_ENDING_SIGNALS_H
#define INGOT_HOST_ENDING_SIGNALS_H

/* From here on SIGINT, SIGTERM and SIGHUP add 1 to *n and end nothing; those that the caller ignores (nohup) stay ignored. After
 * the third one the next ends the process at once. */
void ending_signals_note(volatile int *n);

/* The same, with a handler of the caller's. */
void ending_signals_take(void (*handler)(int number));

#endif
