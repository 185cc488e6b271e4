"""What the server and a child say to each other. Fixed layouts: the server parses nothing that an answer could write."""

import json
import struct

NONCE_BYTES = 16
# Child to server: nonce, kind, index of the call, CPU seconds, bytes of the text that follows.
# The seconds are those used so far for BEGIN, and those used by the call for RESULT.
HEADER = struct.Struct(f"<{NONCE_BYTES}scIdI")
BEGIN, RESULT = b"b", b"r"
MOST_TEXT_BYTES = 65536

# Server to child: the nonce, the length of the job, the job as JSON.
JOB_HEADER = struct.Struct(f"<{NONCE_BYTES}sI")


def job_bytes(nonce, job):
    keys = ("source", "calls", "start", "split", "seed", "own", "imported")
    body = json.dumps({key: job[key] for key in keys}).encode("ascii")
    return JOB_HEADER.pack(nonce, len(body)) + body
