#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""signed.py LISTEN_PORT SERVICE_PORT PORT_FILE: a service that takes signed requests only.

Verifies Amazon's Signature 4 of each request by itself (hmac and hashlib, nothing of rowferry) and
hands it on to a service on loopback below the prefix /shop. The keys are those of Amazon's manual; the
region is eu-west-1, the service es, the token of the session stands in the variable SIGNED_TOKEN.
"""
import hashlib
import hmac
import http.client
import os
import re
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY_ID = "AKIAIOSFODNN7EXAMPLE"
SECRET_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
TOKEN = os.environ.get("SIGNED_TOKEN")
PREFIX = "/shop"
FORM = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/eu-west-1/es/aws4_request, "
    r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$"
)


def encoded(text):
    return urllib.parse.quote(text, safe="-_.~")


def canonical(method, target, headers, names, payload):
    path, _, query = target.partition("?")
    pairs = (p.partition("=") for p in query.split("&") if p)
    fields = sorted((encoded(urllib.parse.unquote(k)), encoded(urllib.parse.unquote(v))) for k, _, v in pairs)
    return "\n".join(
        [method, "/".join(encoded(s) for s in path.split("/")), "&".join(k + "=" + v for k, v in fields)]
        + [name + ":" + " ".join(headers[name].split()) for name in names]
        + ["", ";".join(names), payload]
    )


def fault(method, target, headers, body):
    """Why the request is refused; None where it is not."""
    form = FORM.match(headers.get("authorization", ""))
    if form is None or form[1] != KEY_ID:
        return "no signature"
    day, names, signature = form[2], form[3].split(";"), form[4]
    wanted = {"host", "x-amz-date"} | ({"x-amz-security-token"} if TOKEN else set())
    if names != sorted(names) or not wanted <= set(names):
        return "the wrong headers are signed"
    if headers.get("x-amz-security-token") != TOKEN:
        return "another token"
    payload = hashlib.sha256(body).hexdigest()
    if headers.get("x-amz-content-sha256") != payload:
        return "another body"
    request = hashlib.sha256(canonical(method, target, headers, names, payload).encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], day + "/eu-west-1/es/aws4_request", request])
    key = ("AWS4" + SECRET_KEY).encode()
    for part in (day, "eu-west-1", "es", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return None if hmac.compare_digest(key.hex(), signature) else "the signature does not match"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, content_type="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {k.lower(): v for k, v in self.headers.items()}
        why = fault(self.command, self.path, headers, body)
        if why is None and not self.path.startswith(PREFIX + "/"):
            why = "outside of the prefix"
        if why is not None:
            print("refused", self.command, self.path, why, file=sys.stderr, flush=True)
            self.answer(403, ('{"message":"%s"}' % why).encode())
            return
        service = http.client.HTTPConnection("127.0.0.1", int(sys.argv[2]))
        kept = {k: v for k, v in headers.items() if k in ("content-type", "accept")}
        service.request(self.command, self.path[len(PREFIX) :], body, kept)
        reply = service.getresponse()
        self.answer(reply.status, reply.read(), reply.getheader("Content-Type", "text/plain"))
        service.close()

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_request

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True


server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
with open(sys.argv[3] + ".new", "w", encoding="ascii") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[3] + ".new", sys.argv[3])
server.serve_forever()
