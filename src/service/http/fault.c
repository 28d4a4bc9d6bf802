/* SPDX-License-Identifier: Apache-2.0 */
/* Maps libcurl's codes to an error class and a message. */
#include "http/fault.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "http/body.h"
#include "rowferry/base/units.h"

#define SCHEME_TRY_MS 3000L

enum saying {
    SAY_RESOLVE,
    SAY_CONNECT,
    SAY_TIMEOUT,
    SAY_CERTIFICATE,
    SAY_OWN_FILE,
    SAY_HANDSHAKE,
    SAY_LOST,
    SAY_LARGE,
    SAY_OTHER,
};

static const struct fault_row {
    CURLcode code;
    enum err_class class;
    enum saying saying;
} faults[] = {
    {CURLE_COULDNT_RESOLVE_HOST, ERR_TRANSIENT, SAY_RESOLVE},
    {CURLE_COULDNT_CONNECT, ERR_TRANSIENT, SAY_CONNECT},
    {CURLE_OPERATION_TIMEDOUT, ERR_TRANSIENT, SAY_TIMEOUT},
    {CURLE_PEER_FAILED_VERIFICATION, ERR_REJECTED, SAY_CERTIFICATE},
    {CURLE_SSL_ISSUER_ERROR, ERR_REJECTED, SAY_CERTIFICATE},
    {CURLE_SSL_INVALIDCERTSTATUS, ERR_REJECTED, SAY_CERTIFICATE},
    {CURLE_SSL_CACERT_BADFILE, ERR_REJECTED, SAY_OWN_FILE},
    {CURLE_SSL_CERTPROBLEM, ERR_REJECTED, SAY_OWN_FILE},
    {CURLE_SSL_CONNECT_ERROR, ERR_TRANSIENT, SAY_HANDSHAKE},
    {CURLE_SSL_CIPHER, ERR_REJECTED, SAY_HANDSHAKE},
    {CURLE_GOT_NOTHING, ERR_TRANSIENT, SAY_LOST},
    {CURLE_SEND_ERROR, ERR_TRANSIENT, SAY_LOST},
    {CURLE_RECV_ERROR, ERR_TRANSIENT, SAY_LOST},
    {CURLE_PARTIAL_FILE, ERR_TRANSIENT, SAY_LOST},
    {CURLE_HTTP2, ERR_TRANSIENT, SAY_LOST},
    {CURLE_HTTP2_STREAM, ERR_TRANSIENT, SAY_LOST},
    {CURLE_WRITE_ERROR, ERR_REJECTED, SAY_LARGE},
    {CURLE_URL_MALFORMAT, ERR_CONFIG, SAY_OTHER},
};

/* Tests the pretransfer time, because the connect time is also 0 if a connection is reused. */
static bool fault_never_connected(const struct slot *slot)
{
    curl_off_t ready_us = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_PRETRANSFER_TIME_T, &ready_us);
    return ready_us == 0 && slot->answer.status == 0;
}

bool fault_is_unreachable(const struct slot *slot)
{
    switch (slot->result) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_SSL_CONNECT_ERROR:
        return true;
    case CURLE_OPERATION_TIMEDOUT:
        return fault_never_connected(slot);
    default:
        return false;
    }
}

bool fault_turns_away(const struct slot *slot)
{
    return slot->result == CURLE_OPERATION_TIMEDOUT || fault_is_unreachable(slot);
}

static struct fault_row fault_row_of(CURLcode code)
{
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (faults[i].code == code) {
            return faults[i];
        }
    }
    return (struct fault_row){code, ERR_TRANSIENT, SAY_OTHER};
}

/* Shortens "OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number" to the reason. */
static const char *fault_words_of(const struct slot *slot)
{
    const char *words = slot->failure[0] != '\0' ? slot->failure : curl_easy_strerror(slot->result);
    const char *reason = strstr(words, "::");
    return reason != NULL && strstr(words, "error:") != NULL ? reason + 2 : words;
}

static int fault_report_connect(const struct slot *slot, const char *origin, struct err *err)
{
    long number = 0;
    char reason[96];
    curl_easy_getinfo(slot->easy, CURLINFO_OS_ERRNO, &number);
    const char *words = number != 0 ? strerrordesc_np((int)number) : NULL;
    snprintf(reason, sizeof(reason), "%s", words != NULL ? words : "no connection");
    reason[0] = (char)tolower((unsigned char)reason[0]);
    return err_set(err, ERR_TRANSIENT, "could not connect to %s: %s", origin, reason);
}

static int fault_report_timeout(const struct slot *slot, const char *origin, struct err *err)
{
    const struct service_options *o = &slot->service->options;
    char time[UNITS_BYTES];
    if (fault_never_connected(slot)) {
        return err_set(err, ERR_TRANSIENT, "could not connect to %s within %s", origin,
                       units_duration(time, o->connect_timeout_ms));
    }
    return err_set(err, ERR_TRANSIENT, "no complete answer from %s within %s", origin,
                   units_duration(time, o->request_timeout_ms));
}

/* OpenSSL's verification results (x509_vfy.h: X509_V_ERR_...), as reported by libcurl. libcurl
 * initialises the result with 1, which remains if the chain is valid but the host name differs. */
static const struct certificate_row {
    long code;
    const char *words;
    const char *hint;
} certificates[] = {
    {1, "it does not match that name",
     "use a host name in service.url that the certificate contains, or give the service a "
     "certificate with this name"},
    {9, "it is not valid yet",
     "check the clock of this machine, and of the one that made the certificate"},
    {10, "it has expired", "give the service a new certificate (or set the clock of this machine)"},
    {18, "it is self-signed",
     "set service.tls.ca_file to this certificate, as its operator provides it, or give the "
     "service one that an authority signed"},
    {26, "it is not a server certificate",
     "give the service a certificate for server authentication"},
};

static const struct certificate_row strangers = {
    0, "the authority that signed it is unknown here",
    "set service.tls.ca_file to the certificate of the authority that signed it"};

static const struct certificate_row *fault_certificate_row(const struct slot *slot)
{
    long code = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_SSL_VERIFYRESULT, &code);
    for (size_t i = 0; i < sizeof(certificates) / sizeof(certificates[0]); i++) {
        if (certificates[i].code == code) {
            return &certificates[i];
        }
    }
    return &strangers;
}

/* TLS alerts and handshake failures with a known remedy. Alerts of the server are available only as
 * text. */
static const struct alert_row {
    const char *part; /* part of libcurl's message */
    enum err_class class;
    const char *words;
    const char *hint;
} alerts[] = {
    {"certificate required", ERR_REJECTED, "requires a client certificate",
     "set service.tls.client_cert and service.tls.client_key"},
    {"alert unknown ca", ERR_REJECTED, "refuses the client certificate",
     "service.tls.client_cert must be signed by an authority that the service trusts"},
    {"alert certificate expired", ERR_REJECTED, "refuses the client certificate, which has expired",
     "renew service.tls.client_cert"},
    {"alert bad certificate", ERR_REJECTED, "refuses the client certificate",
     "service.tls.client_cert must be signed by an authority that the service trusts"},
    {"protocol version", ERR_REJECTED, "does not speak TLS 1.2 or newer",
     "rowferry refuses older versions: update the service"},
    {"unsupported protocol", ERR_REJECTED, "does not speak TLS 1.2 or newer",
     "rowferry refuses older versions: update the service"},
    {"tunnel failed, response 50", ERR_TRANSIENT, "could not be reached through service.proxy",
     "the proxy answers, but it cannot reach the service"},
    {"tunnel failed", ERR_REJECTED, "cannot be reached through service.proxy",
     "the proxy refuses the connection: it must allow this program to reach that host and port"},
};

static const struct alert_row *fault_alert_row(const struct slot *slot)
{
    for (size_t i = 0; i < sizeof(alerts) / sizeof(alerts[0]); i++) {
        if (strstr(slot->failure, alerts[i].part) != NULL) {
            return &alerts[i];
        }
    }
    return NULL;
}

static int fault_report_tls(const struct slot *slot, const struct fault_row *row,
                            const char *origin, struct err *err)
{
    if (row->saying == SAY_CERTIFICATE) {
        const struct certificate_row *why = fault_certificate_row(slot);
        err_set(err, row->class, "cannot verify the certificate of %s: %s", origin, why->words);
        return err_hint(err, "%s", why->hint);
    }
    if (row->saying == SAY_OWN_FILE) {
        err_set(err, row->class, "cannot use a file of service.tls: %s", fault_words_of(slot));
        return err_hint(err, "ca_file, client_cert and client_key must be readable PEM files");
    }
    err_set(err, row->class, "could not start TLS with %s: %s", origin, fault_words_of(slot));
    return err_hint(
        err, "does the service use https on this port, and does it require a client certificate?");
}

/* --- a URL that never worked --------------------------------------------------------------------
 */

static bool fault_is_secure(const struct slot *slot)
{
    return strncmp(slot->service->bases[slot->base].url, "https:", 6) == 0;
}

/* Asks the server for HEAD / with the other scheme and without a credential. Returns true if it
 * starts TLS ("https"), or answers without it ("http"). A TLS port may answer a plain request with
 * 400, only to say that. */
static bool fault_speaks(const struct slot *slot, const char *scheme)
{
    char url[512];
    long status = 0;
    CURL *easy = curl_easy_init();
    CURLcode code = CURLE_FAILED_INIT;
    snprintf(url, sizeof(url), "%s://%s/", scheme, slot->service->bases[slot->base].origin);
    if (easy != NULL && curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, SCHEME_TRY_MS) == CURLE_OK) {
        code = curl_easy_perform(easy);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_easy_cleanup(easy);
    return code == CURLE_PEER_FAILED_VERIFICATION || (code == CURLE_OK && status != 400);
}

/* Tries the other scheme, which may take as long as SCHEME_TRY_MS, until it has failed once. */
static bool fault_speaks_other(const struct slot *slot, const char *scheme)
{
    struct service *s = slot->service;
    if (s->scheme_kept || slot->head_whole) { /* the head of an answer settles it too */
        return false;
    }
    bool speaks = fault_speaks(slot, scheme);
    s->scheme_kept = !speaks;
    return speaks;
}

/* Recognises a wrong host or scheme: it has never worked, so waiting does not help. Returns 0 if it
 * is none of these. */
static int fault_report_wrong_url(const struct slot *slot, const struct fault_row *row,
                                  const char *origin, struct err *err)
{
    if (slot->service->reached ||
        slot->service->options.proxy != NULL) { /* or the proxy is wrong */
        return 0;
    }
    if (row->saying == SAY_RESOLVE) {
        err_set(err, ERR_REJECTED, "could not find the address of %s", origin);
        return err_hint(err, "correct the host in service.url, or the name server of this machine");
    }
    if (row->saying == SAY_HANDSHAKE && fault_speaks_other(slot, "http")) {
        err_set(err, ERR_REJECTED, "%s does not speak TLS", origin);
        return err_hint(err, "use http://%s in service.url, or set the service's TLS up", origin);
    }
    if (row->saying == SAY_LOST && !fault_is_secure(slot) && fault_speaks_other(slot, "https")) {
        err_set(err, ERR_REJECTED, "%s speaks TLS", origin);
        return err_hint(err, "use https://%s in service.url", origin);
    }
    return 0;
}

static int fault_push_reason(const struct slot *slot, const struct fault_row *row,
                             const char *origin, struct err *err)
{
    const struct alert_row *alert = fault_alert_row(slot);
    if (alert != NULL) {
        err_set(err, alert->class, "%s %s", origin, alert->words);
        return err_hint(err, "%s", alert->hint);
    }
    int wrong = fault_report_wrong_url(slot, row, origin, err);
    if (wrong < 0) {
        return wrong;
    }
    switch (row->saying) {
    case SAY_RESOLVE:
        return err_set(err, row->class, "could not find the address of %s", origin);
    case SAY_CONNECT:
        return fault_report_connect(slot, origin, err);
    case SAY_TIMEOUT:
        return fault_report_timeout(slot, origin, err);
    case SAY_CERTIFICATE:
    case SAY_OWN_FILE:
    case SAY_HANDSHAKE:
        return fault_report_tls(slot, row, origin, err);
    case SAY_LOST:
        return err_set(err, row->class,
                       "the connection to %s was lost before the answer was complete", origin);
    case SAY_LARGE:
        return err_set(err, row->class, "cannot take an answer of %s of over %zu bytes", origin,
                       slot->answer.body.max_bytes);
    default:
        return err_set(err, row->class, "could not talk to %s: %s", origin, fault_words_of(slot));
    }
}

int fault_describe(const struct slot *slot, struct err *err)
{
    struct fault_row row = fault_row_of(slot->result);
    return fault_push_reason(slot, &row, slot->service->bases[slot->base].origin, err);
}

int fault_explain(const struct slot *slot, struct err *err)
{
    char place[HTTP_PLACE_BYTES];
    fault_describe(slot, err); /* names the host */
    return err_context(err, "%s", http_place(place, slot->method, buf_text(&slot->path), NULL));
}
