"""A good adapter spoilt in one way: `python spoiling.py KIND COMMAND...` changes what passes through.

Each kind is a mistake that is easy to make when one writes an adapter.
"""

import asyncio
import base64
import json
import sys


class Spoiler:
    def __init__(self, kind):
        self.kind = kind
        self.ops = {}
        self.idle = asyncio.Event()
        self.idle.set()
        self.held = None

    async def to_adapter(self, line):
        """One call at a time, where that is the mistake."""
        call = json.loads(line)
        self.ops[call["id"]] = call["op"]
        if self.kind == "serial":
            await self.idle.wait()
            self.idle.clear()
        return line

    def from_adapter(self, document):
        """What is passed on instead of a line: none, one or several."""
        if "id" in document:
            self.idle.set()
        op, ok = self.ops.get(document.get("id")), document.get("ok")
        match self.kind:
            case "text-only":
                changed(document, "data", lambda data: as_text(data))
            case "rounded":
                changed(document, "seq", lambda seq: str(int(float(seq))))
            case "no-end" if document.get("event") == "end":
                return []
            case "swapped" if document.get("event") == "message":
                if self.held is None:
                    self.held = document
                    return []
                first, self.held = self.held, None
                return [document, first]
            case "modest" if op == "hello" and ok:
                ok["capabilities"].remove("message.get")
            case "boastful" if op == "hello" and ok:
                ok["capabilities"].append("batch.publish")
            case "cheerful" if op == "publish" and "error" in document:
                return [{"id": document["id"], "ok": {"ack": {"stream": "S", "seq": "1"}}}]
            case "forgetful" if op == "connect" and self.ops.get("connected"):
                return [{"id": document["id"], "error": {"type": "E", "text": "connected"}}]
            case "forgetful" if op == "connect":
                self.ops["connected"] = True
            case "nameless" if op == "fetch" and ok:
                for message in ok["messages"]:
                    message.pop("msg")
            case "numbers" if op == "publish" and ok:
                ok["ack"]["seq"] = int(ok["ack"]["seq"])
        return [document]


def changed(value, name, change):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == name and isinstance(inner, str):
                value[key] = change(inner)
            else:
                changed(inner, name, change)
    elif isinstance(value, list):
        for inner in value:
            changed(inner, name, change)


def as_text(data):
    text = base64.b64decode(data).decode("utf-8", "replace")
    return base64.b64encode(text.encode()).decode()


async def main(kind, command):
    adapter = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=2**28
    )
    calls = asyncio.StreamReader(limit=2**28)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(calls), sys.stdin)
    spoiler = Spoiler(kind)

    async def forward():
        while line := await calls.readline():
            adapter.stdin.write(await spoiler.to_adapter(line))
        adapter.stdin.close()

    sending = asyncio.create_task(forward())
    while line := await adapter.stdout.readline():
        for document in spoiler.from_adapter(json.loads(line)):
            sys.stdout.write(json.dumps(document) + "\n")
            sys.stdout.flush()
    await sending
    if kind == "stays":
        await asyncio.sleep(600)
    sys.exit(await adapter.wait())


asyncio.run(main(sys.argv[1], sys.argv[2:]))
