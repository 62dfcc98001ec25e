"""Drives `bindery app-server`: start, inject, settings, steer, interrupt, resume. Usage: app_server.py BINDERY DIR"""
import json, subprocess, sys
server = subprocess.Popen([sys.argv[1], "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
notifications, last = [], 0

def call(method, **params):
    """Asks, and gives the result; notifications that come first are kept."""
    global last
    last += 1
    print(json.dumps({"jsonrpc": "2.0", "id": last, "method": method, "params": params}), file=server.stdin, flush=True)
    while True:
        message = json.loads(server.stdout.readline())
        if message.get("id") == last:
            return message["result"] if "result" in message else message["error"]["data"]
        notifications.append(message)

def wait(method):
    """The next notification of this kind."""
    while True:
        message = notifications.pop(0) if notifications else json.loads(server.stdout.readline())
        if message.get("method") == method:
            return message["params"]

def say(text):
    return [{"type": "text", "text": text}]

call("initialize", clientInfo={"name": "example"})
thread = call("thread/start", cwd=sys.argv[2], provider="sim")["thread"]["id"]
call("thread/inject_items", threadId=thread, items=[{"class": "baseline", "text": "Releases are on Tuesdays."}])
update = call("thread/settings/update", threadId=thread, mode="review", developerInstructions="Change no file.")
print("changed:", ", ".join(update["changed"]))
turn = call("turn/start", threadId=thread, input=say("What is here?"))["turn"]["id"]
print("steered:", call("turn/steer", threadId=thread, expectedTurnId=turn, input=say("Be brief."), orStart=True))
print("ended:", wait("turn/completed")["turn"]["status"])
print("late:", call("turn/steer", threadId=thread, expectedTurnId="99", input=say("?"))["code"])
turn = call("turn/start", threadId=thread, input=say("Go on."))["turn"]["id"]
call("turn/interrupt", threadId=thread, turnId=turn)
print("ended:", wait("turn/completed")["turn"]["status"])
call("thread/close", threadId=thread)
print("resumed:", call("thread/resume", threadId=thread, provider="sim")["thread"]["turns"], "turns")
