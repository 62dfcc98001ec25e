"""A server of the Model Context Protocol for tests: it does what a plan says, and nothing is installed for it.

    server.py PLAN.json               speaks on standard input and output
    server.py PLAN.json --http FILE   speaks streamable HTTP on loopback and writes its port into FILE

The plan is read anew for every message, so that a test can change it while the server runs:

    instructions, version  what it says of itself
    greeting               lines that are no messages, printed first
    complaint              a line on standard error
    exit                   ends at once with this status
    hang                   answers nothing
    endless                names a next page for ever
    count                  that many tools more, named t0, t1, ...
    tools                  [{"name", "description", "schema", "does", "with"}]
    log                    a file that gets a line for every message

What a tool does: "echo" its input, "say" its "with", "sleep" for ever, "die", "big" (that many bytes), "fail",
"picture", "refuse" (an error of the protocol), "changed" (says that its list changed).
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PLAN = sys.argv[1]


def plan():
    with open(PLAN, encoding="utf-8") as file:
        return json.load(file)


def tools(now):
    listed = list(now.get("tools", []))
    listed += [{"name": f"t{number}"} for number in range(now.get("count", 0))]
    schema = {"type": "object", "properties": {}}
    return [
        {
            "name": tool["name"],
            "description": tool.get("description", "Does something."),
            "inputSchema": tool.get("schema", schema),
        }
        for tool in listed
    ]


def does(now, name, given, say):
    found = [tool for tool in now.get("tools", []) if tool["name"] == name]
    tool = found[0] if found else {}
    what = tool.get("does", "echo")
    text = {"type": "text", "text": json.dumps(given, sort_keys=True)}
    if what == "say":
        text["text"] = tool["with"]
    elif what == "sleep":
        time.sleep(600)
    elif what == "die":
        os._exit(7)
    elif what == "big":
        text["text"] = "line of a large result\n" * (tool["with"] // 23)
    elif what == "fail":
        return {"content": [{"type": "text", "text": "it went wrong"}], "isError": True}
    elif what == "picture":
        text = {"type": "image", "mimeType": "image/png", "data": "aGVsbG8h"}
    elif what == "changed":
        say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    elif what == "refuse":
        return None
    return {"content": [text]}


def answer(message, say):
    """The answer to a message, or None."""
    now = plan()
    if now.get("log"):
        with open(now["log"], "a", encoding="utf-8") as file:
            file.write(json.dumps(message) + "\n")
    if "id" not in message or now.get("hang"):
        return None
    method, params = message.get("method"), message.get("params", {})
    result = {}
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "planned", "version": now.get("version", "1")},
        }
        if "instructions" in now:
            result["instructions"] = now["instructions"]
    elif method == "tools/list":
        result = {"tools": tools(now)}
        if now.get("endless"):
            result["nextCursor"] = "again"
    elif method == "tools/call":
        result = does(now, params["name"], params.get("arguments", {}), say)
    if result is None:
        error = {"code": -32602, "message": "no such tool"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def stdio():
    lock = threading.Lock()

    def say(message):
        with lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def one(message):
        answered = answer(message, say)
        if answered is not None:
            say(answered)

    now = plan()
    for _ in range(now.get("greeting", 0)):
        print("Welcome to the planned server!", flush=True)
    if now.get("complaint"):
        print(now["complaint"], file=sys.stderr, flush=True)
    if "exit" in now:
        sys.exit(now["exit"])
    for line in sys.stdin:
        if line.strip():
            threading.Thread(target=one, args=(json.loads(line),), daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        wanted = plan().get("authorization")
        if wanted and self.headers.get("Authorization") != wanted:
            return self.whole(401, b"")
        answered = answer(json.loads(body), lambda _: None)
        if answered is None:
            return self.whole(202, b"")
        return self.whole(200, json.dumps(answered).encode())

    def do_GET(self):
        self.whole(405, b"")

    def do_DELETE(self):
        self.whole(200, b"")

    def whole(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Mcp-Session-Id", "one")
        self.end_headers()
        self.wfile.write(body)


def http(file):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open(file + ".new", "w", encoding="utf-8") as out:
        out.write(str(server.server_address[1]))
    os.rename(file + ".new", file)
    server.serve_forever()


if __name__ == "__main__":
    if sys.argv[2:3] == ["--http"]:
        http(sys.argv[3])
    else:
        stdio()
