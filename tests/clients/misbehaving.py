"""An adapter that is wrong in one way each: `python misbehaving.py KIND`.

It greets as it should (unless that is what is wrong with it), and does wrong when it is asked to
publish. `polite` does nothing wrong.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

ACK = {"ack": {"stream": "S", "seq": "9007199254740993"}}
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def hello(**changed):
    return {
        "protocol": 1,
        "library": "fake",
        "version": "1.0",
        "language": "python",
        "runtime": "here",
        "parts": {},
        "capabilities": ["connect", "close", "publish", "fetch"],
        "claims": {"adr-37": 3},
    } | changed


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def publish(kind, number):
    """What each kind does instead of answering well; nothing more is said after it."""
    answer = {"id": number, "ok": ACK}
    match kind:
        case "garbage":
            raw(b"%$#!\x00\n")
        case "log":
            raw(b"2026-01-01 00:00:00 INFO connected to the server\n")
        case "list":
            raw(b"[1, 2]\n")
        case "blank":
            raw(b"\n")
        case "deep":
            raw(b"[" * 100_000 + b"\n")
        case "not-utf8":
            raw(b'{"id": %d, "error": {"type": "E", "text": "\xff\xfe"}}\n' % number)
        case "nan":
            raw(b'{"id": %d, "ok": {"ack": NaN}}\n' % number)
        case "wrong-id":
            say({"id": 4711, "ok": ACK})
        case "text-id":
            say({"id": str(number), "ok": ACK})
        case "twice":
            say(answer)
            say(answer)
        case "both":
            say(answer | {"error": {"type": "E", "text": "t"}})
        case "number-for-digits":
            say({"id": number, "ok": {"ack": {"stream": "S", "seq": 7}}})
        case "no-base64":
            say({"event": "message", "of": "k", "data": "é!"})
        case "unknown-event":
            say({"event": "surprise", "of": "k"})
        case "bad-event":
            say({"event": "message", "of": "k", "seq": 7})
        case "never":
            pass
        case "hangs":
            time.sleep(600)
        case "dies":
            sys.stderr.write("panic: \x1b[31mout of ideas\n")
            sys.stderr.flush()
            os._exit(3)
        case "killed":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "dies-after-answer":
            say(answer)
            os._exit(0)
        case "half-a-line":
            raw(b'{"id": ')
            os._exit(0)
        case "memory":
            hoard = []
            while True:
                hoard.append(bytearray(os.urandom(1024)) * 4096)
        case "child-memory":
            eat = "h = []\nwhile True: h.append(bytearray(4 << 20))"
            subprocess.Popen([sys.executable, "-c", eat])
            say(answer)
        case "long-line":
            raw(b'{"id": 1, "ok": "')
            while True:
                raw(b"x" * 65536)
        case "flood":
            while True:
                raw(b"what a day\n" * 1000)
        case "escapes":
            text = "\x1b]0;owned\x07\x1b[2J</script><b>\u202e"
            say({"id": number, "error": {"type": "Evil\x1b[31m", "text": text}})
        case "forks":
            subprocess.Popen(SLEEP)
            say(answer)
        case "daemon":
            subprocess.Popen(SLEEP, start_new_session=True)
            say(answer)
        case "holds-stdout":
            subprocess.Popen(SLEEP, start_new_session=True)
            os._exit(0)
        case "thread":
            threading.Thread(target=time.sleep, args=(600,)).start()
            say(answer)
        case "shouts":
            sys.stderr.write("a lot of log\n" * 100_000)
            say(answer)
        case _:
            say(answer)


def main(kind):
    later = []
    if kind == "mute":
        time.sleep(600)
    if kind == "dies-at-once":
        sys.exit("cannot find the library")
    for line in sys.stdin.buffer:
        call = json.loads(line)
        number, op = call["id"], call["op"]
        if op == "hello":
            changed = {"bad-hello": {"version": 1}, "other-protocol": {"protocol": 2}}
            say({"id": number, "ok": hello(**changed.get(kind, {}))})
        elif op == "publish" and kind == "out-of-order":
            later.append(number)
            if len(later) == 3:
                for waiting in reversed(later):
                    say({"id": waiting, "ok": {"ack": {"seq": str(waiting)}}})
        elif op == "publish":
            publish(kind, number)
        elif op == "echo":
            say({"event": "message", "of": "k", "data": call["data"], "headers": call["headers"]})
            say({"id": number, "ok": {"got": call}})
        elif op == "close":
            say({"id": number, "ok": {}})
        else:
            say({"id": number, "unsupported": f"no API for {op}"})
    if kind == "stays":
        time.sleep(600)
    if kind == "no-newline":
        raw(b'{"event": "end"')
    if kind == "bad-exit":
        sys.exit(9)


main(sys.argv[1])
