/*
 * qaas_backend.h: a qaas backend in a shared library, for C and whatever speaks C.
 *
 * A backend says which command runs the tests and what its output means; qaas starts it, limits it, judges it. All
 * that goes in and out is JSON (UTF-8, not terminated by a zero), the same that an executable backend reads and
 * writes: docs/backends.md describes every message. Here is only how the bytes are handed over.
 *
 * A library exports one function, `qaas_backend_entry_v1`, which gives a table that stays where it is for ever.
 * A new major version gets a new name; a new minor version adds functions at the table's end. A host takes a table
 * that is longer than it knows, and none that is shorter than version 1.0's.
 *
 * Rules of ownership
 *   - Input belongs to qaas and is valid only during the call.
 *   - Output belongs to the library. Before a call qaas sets all of it to zero. After the call, whatever the status,
 *     qaas copies it and calls `free` exactly once if `data` is not NULL.
 *   - NULL as output means JSON's `null`, the answer to `open`, `artifact` and `close`.
 *   - Output has at most 64 MiB. What is longer than the protocol's 16 MiB goes in pages (`more`).
 *
 * Rules of conduct
 *   - One thread at a time uses the library; not always the same one.
 *   - Nothing may throw, unwind or jump out of a call, end the process, or wait for anything outside.
 *   - Standard input and output are not yours. Standard error is shown when something goes wrong.
 *   - A library is never unloaded; its process is ended.
 */
#ifndef QAAS_BACKEND_H
#define QAAS_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "qaas", as its bytes lie in memory on a little-endian machine. */
#define QAAS_BACKEND_MAGIC 0x73616171u
#define QAAS_BACKEND_MAJOR 1
#define QAAS_BACKEND_MINOR 0

/* What an operation returns. Any other value is taken for an error. */
enum {
    QAAS_OK = 0,
    /* Output: {"code": "…", "message": "…", "hint": "…" or null}. */
    QAAS_ERROR = 1,
    /* It came to grief and does not trust its own state: qaas makes a new instance, if it needs one, and does not
     * destroy this one. Output as for an error. */
    QAAS_PANICKED = 2,
    /* This backend has no such operation. Output is not looked at. */
    QAAS_UNSUPPORTED = 3
};

/* The first 16 bytes of the table, in every version there will ever be. */
struct qaas_head {
    uint32_t magic;
    uint16_t major;
    uint16_t minor;
    /* Of the whole table, in bytes: sizeof(struct qaas_backend). */
    uint32_t size;
    /* 0. Bits that a host does not know are ignored. */
    uint32_t flags;
};

/* Bytes that the library made. `len` of them mean something; `capacity` and `data` are for `free`. */
struct qaas_buffer {
    uint8_t *data;
    size_t len;
    size_t capacity;
};

/* One message of the protocol: its parameters in, its result out. */
typedef int32_t (*qaas_operation)(void *instance, const uint8_t *input, size_t input_len,
                                  struct qaas_buffer *output);

struct qaas_backend {
    struct qaas_head head;
    /* The message `initialize`: parameters in, result out. With QAAS_OK it sets `instance`, which may be NULL for a
     * backend that keeps nothing. Several instances may live at once. */
    int32_t (*create)(const uint8_t *input, size_t input_len, struct qaas_buffer *output, void **instance);
    void (*destroy)(void *instance);
    void (*free)(struct qaas_buffer *buffer);
    qaas_operation plan;
    /* NULL for a backend that does not measure coverage. */
    qaas_operation wrap;
    qaas_operation open;
    qaas_operation read;
    /* NULL for a backend whose plans leave no files. */
    qaas_operation artifact;
    qaas_operation finish;
    /* NULL for a backend whose events go into one answer each (it does not take the feature `more`). */
    qaas_operation more;
    qaas_operation close;
};

#if defined(_WIN32)
__declspec(dllexport)
#elif defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct qaas_backend *qaas_backend_entry_v1(void);

#ifdef __cplusplus
}
#endif

#endif
