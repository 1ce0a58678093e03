/* Check signature verification against published vectors, and against bad signatures. */
#ifndef INGOT_RUNTIME_ECDSA_SELFTEST_H
#define INGOT_RUNTIME_ECDSA_SELFTEST_H

/* Verify the signatures of RFC 6979, A.2.5, with SHA-256. Check that each of them is refused if it
 * is damaged in any way that a verifier must detect, and that a key is refused if it is not a point
 * of the curve. Return NULL after success; otherwise return a noun that names the failed case. */
const char *ecdsa_selftest(void);

#endif
