/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A minimal bulk client: posts a file of ready bulk lines in pieces over one connection and
 * discards the responses. It shows the limit of the service for one connection.
 *
 *   poster FILE URL [BYTES]  BYTES per request, approximately; default 1.4 MB
 *
 * A piece ends after a document, that is after every second line, because there are no deletes.
 */
#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1400000)

static void fail(const char *what)
{
    fprintf(stderr, "poster: %s\n", what);
    exit(EXIT_FAILURE);
}

static size_t forget(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

static CURL *make_handle(const char *url)
{
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/x-ndjson");
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, forget);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    return easy;
}

/* Returns the end of the piece that begins at text: after the document that makes it large
 * enough. */
static const char *piece_end(const char *text, const char *end, size_t bytes)
{
    const char *at = text;
    for (size_t lines = 0; at < end; lines++) {
        if (lines % 2 == 0 && (size_t)(at - text) >= bytes) {
            break;
        }
        at = memchr(at, '\n', (size_t)(end - at));
        at = at != NULL ? at + 1 : end;
    }
    return at;
}

static void post(const char *url, const char *text, const char *end, size_t bytes)
{
    CURL *easy = make_handle(url);
    while (text < end) {
        const char *stop = piece_end(text, end, bytes);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, text);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(stop - text));
        CURLcode code = curl_easy_perform(easy);
        if (code != CURLE_OK) {
            fail(curl_easy_strerror(code));
        }
        text = stop;
    }
    curl_easy_cleanup(easy);
}

int main(int argc, char **argv)
{
    struct stat about;
    if (argc < 3) {
        fail("expects a file and a URL");
    }
    int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0 || about.st_size == 0) {
        fail("the file cannot be read, or is empty");
    }
    size_t len = (size_t)about.st_size;
    const char *text = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED) {
        fail("the file cannot be mapped");
    }
    post(argv[2], text, text + len, argc > 3 ? strtoul(argv[3], NULL, 10) : PIECE_BYTES);
    return EXIT_SUCCESS;
}
