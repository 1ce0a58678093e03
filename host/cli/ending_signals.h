/* Signals that ask a program to end, for example when a window is closed: the other end of a line
 * is reset first. */
#ifndef INGOT_HOST_ENDING_SIGNALS_H
#define INGOT_HOST_ENDING_SIGNALS_H

/* From here on SIGINT, SIGTERM and SIGHUP add 1 to *n and do not end the program; those that the
 * caller ignores (nohup) stay ignored. After three of them the next one ends the process at
 * once. */
void ending_signals_note(volatile int *n);

/* The same, with a handler of the caller's. */
void ending_signals_take(void (*handler)(int number));

#endif
