/*
 * A backend in C: its "framework" is a shell that prints `ok NAME` and `not ok NAME`.
 *
 * `config` may tell it to misbehave: {"do": "WHAT@OPERATION"}. What can be said of the table itself is said when it is
 * compiled: -DMAGIC=…, -DMAJOR=…, -DMINOR=…, -DSIZE=…, -DFLAGS=…, -DENTRY=…, -DNO_TABLE, -DNO_READ, -DLONGER,
 * -DCONSTRUCTOR="PATH" (a file that its constructor makes), -DLACKING (it needs a function that is nowhere).
 */
#include "qaas_backend.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MAGIC
#define MAGIC QAAS_BACKEND_MAGIC
#endif
#ifndef MAJOR
#define MAJOR QAAS_BACKEND_MAJOR
#endif
#ifndef MINOR
#define MINOR QAAS_BACKEND_MINOR
#endif
#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef ENTRY
#define ENTRY qaas_backend_entry_v1
#endif

#ifdef LACKING
extern int nowhere_to_be_found(void);
int lacking(void) { return nowhere_to_be_found(); }
#endif

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void constructed(void) {
    FILE *file = fopen(CONSTRUCTOR, "w");
    if (file) fclose(file);
}
#endif

/* Outputs handed out and not yet given back. */
static long outstanding = 0;
static long handed_out = 0;

static void hand_out(struct qaas_buffer *output, const char *bytes, size_t len) {
    output->data = malloc(len + 1);
    memcpy(output->data, bytes, len);
    output->len = len;
    output->capacity = len + 1;
    outstanding++;
    handed_out++;
}

static int32_t say(struct qaas_buffer *output, int32_t status, const char *format, ...) {
    static char text[1 << 20];
    va_list list;
    va_start(list, format);
    int len = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    hand_out(output, text, (size_t)len);
    return status;
}

static void give_back(struct qaas_buffer *buffer) {
    if (outstanding <= 0) abort();
    outstanding--;
    free(buffer->data);
}

/* The text of a string value in `json`, as far as a test needs it. */
static int field(const char *json, size_t json_len, const char *name, char *value, size_t size) {
    char key[64];
    size_t key_len = (size_t)snprintf(key, sizeof key, "\"%s\":\"", name);
    for (size_t at = 0; at + key_len <= json_len; at++) {
        if (memcmp(json + at, key, key_len) != 0) continue;
        size_t len = 0;
        for (at += key_len; at < json_len && json[at] != '"' && len + 1 < size; at++) value[len++] = json[at];
        value[len] = 0;
        return 1;
    }
    value[0] = 0;
    return 0;
}

struct instance {
    char misdeed[64];
    int failed;
};

/* Does what `config` said, if it is for this operation. 0: it was not. */
static int misbehaves(struct instance *self, const char *operation, struct qaas_buffer *output, int32_t *status) {
    char *at = strchr(self->misdeed, '@');
    if (!at || strcmp(at + 1, operation) != 0) return 0;
    size_t len = (size_t)(at - self->misdeed);
#define IS(word) (len == sizeof word - 1 && memcmp(self->misdeed, word, len) == 0)
    *status = QAAS_OK;
    if (IS("segfault")) *(volatile int *)8 = 1;
    else if (IS("abort")) abort();
    else if (IS("exit")) exit(0);
    else if (IS("kill")) raise(SIGKILL);
    else if (IS("hang")) for (;;) pause();
    else if (IS("spin")) for (volatile int on = 1; on;) {}
    else if (IS("print")) { printf("this is not for the host\n"); fflush(stdout); return 0; }
    else if (IS("mutter")) { fprintf(stderr, "last words of the library\n"); abort(); }
    else if (IS("null-with-length")) output->len = 7;
    else if (IS("overfull")) { hand_out(output, "{}", 2); output->len = 900; }
    else if (IS("too-long")) {
        output->len = output->capacity = ((size_t)64 << 20) + 1;
        output->data = malloc(1);
        outstanding++;
    }
    else if (IS("not-utf8")) hand_out(output, "{\"a\": \"\xff\xfe\"}", 11);
    else if (IS("not-json")) hand_out(output, "\x1b[31mplan: none\n", 16);
    else if (IS("wrong-shape")) hand_out(output, "{\"steps\": 7}", 12);
    else if (IS("pretty")) { hand_out(output, "{\n  \"steps\": [\r\n ]\n}\n", 21); }
    else if (IS("nothing")) return 1;
    else if (IS("error")) *status = say(output, QAAS_ERROR, "{\"code\": \"no_moon\", \"message\": \"there is no moon\", \"hint\": \"wait\", \"phase\": 4}");
    else if (IS("error-text")) *status = say(output, QAAS_ERROR, "went \x01 wrong");
    else if (IS("panicked")) *status = say(output, QAAS_PANICKED, "{\"message\": \"lost\"}");
    else if (IS("unsupported")) *status = QAAS_UNSUPPORTED;
    else if (IS("odd-status")) *status = say(output, 77, "what is this");
    else return 0;
    return 1;
}

static int32_t create(const uint8_t *input, size_t len, struct qaas_buffer *output, void **instance) {
    struct instance *self = calloc(1, sizeof *self);
    int32_t status;
    field((const char *)input, len, "do", self->misdeed, sizeof self->misdeed);
    *instance = self;
    if (misbehaves(self, "initialize", output, &status)) return status;
    return say(output, QAAS_OK,
               "{\"protocol\": 1, \"features\": [], \"comment\": \"a field that no host knows\","
               " \"info\": {\"name\": \"lines\", \"framework\": \"sh\", \"language\": \"\", \"capabilities\": [\"run\", \"stream\"],"
               " \"needs\": [], \"options\": []}}");
}

static void destroy(void *instance) { free(instance); }

static int32_t plan(void *instance, const uint8_t *input, size_t len, struct qaas_buffer *output) {
    char cwd[4096];
    int32_t status;
    if (misbehaves(instance, "plan", output, &status)) return status;
    field((const char *)input, len, "cwd", cwd, sizeof cwd);
    return say(output, QAAS_OK,
               "{\"steps\": [{\"name\": \"sh\", \"program\": \"/bin/sh\", \"cwd\": \"%s\","
               " \"args\": [\"-c\", \"echo ok one; echo not ok two; echo of %ld outputs %ld are out; exit 1\"]}]}",
               cwd, handed_out, outstanding);
}

static int32_t open_reader(void *instance, const uint8_t *input, size_t len, struct qaas_buffer *output) {
    int32_t status;
    (void)input, (void)len;
    if (misbehaves(instance, "open", output, &status)) return status;
    return QAAS_OK;
}

static int32_t read_lines(void *instance, const uint8_t *input, size_t len, struct qaas_buffer *output) {
    static char events[1 << 19];
    struct instance *self = instance;
    size_t used = 0;
    int32_t status;
    events[0] = 0;
    if (misbehaves(self, "read", output, &status)) return status;
    for (size_t at = 0; at + 4 < len && used + 200 < sizeof events; at++) {
        int bad = len - at > 8 && memcmp(input + at, "\"not ok ", 8) == 0;
        if (!bad && memcmp(input + at, "\"ok ", 4) != 0) continue;
        char name[100];
        size_t letters = 0;
        for (at += bad ? 8 : 4; at < len && input[at] != '"' && letters + 1 < sizeof name; at++) name[letters++] = (char)input[at];
        name[letters] = 0;
        self->failed += bad;
        used += (size_t)snprintf(events + used, sizeof events - used,
                                 "%s{\"event\": \"finished\", \"nodeid\": \"%s\", \"outcome\": \"%s\"}",
                                 used ? ", " : "", name, bad ? "failed" : "passed");
    }
    return say(output, QAAS_OK, "{\"events\": [%s]}", events);
}

static int32_t finish(void *instance, const uint8_t *input, size_t len, struct qaas_buffer *output) {
    struct instance *self = instance;
    int32_t status;
    (void)input, (void)len;
    if (misbehaves(self, "finish", output, &status)) return status;
    return say(output, QAAS_OK, "{\"events\": [], \"ending\": {\"kind\": \"completed\", \"exit\": \"%s\"}}",
               self->failed ? "tests_failed" : "ok");
}

static int32_t close_reader(void *instance, const uint8_t *input, size_t len, struct qaas_buffer *output) {
    int32_t status;
    (void)input, (void)len;
    if (misbehaves(instance, "close", output, &status)) return status;
    return QAAS_OK;
}

struct longer {
    struct qaas_backend known;
    qaas_operation later;
    void *more[8];
};

#ifndef SIZE
#ifdef LONGER
#define SIZE sizeof(struct longer)
#else
#define SIZE sizeof(struct qaas_backend)
#endif
#endif

static const struct longer table = {
    .known = {
        .head = {MAGIC, MAJOR, MINOR, SIZE, FLAGS},
        .create = create,
        .destroy = destroy,
        .free = give_back,
        .plan = plan,
        .open = open_reader,
#ifndef NO_READ
        .read = read_lines,
#endif
        .finish = finish,
        .close = close_reader,
    },
    .later = plan,
};

__attribute__((visibility("default"))) const struct qaas_backend *ENTRY(void) {
#ifdef NO_TABLE
    (void)table;
    return NULL;
#else
    return &table.known;
#endif
}
