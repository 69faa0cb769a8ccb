# SPDX-License-Identifier: MIT
"""The server responds only to its own pages."""

import http.client
import json
import os
import socket
import subprocess
import time
from typing import Dict, Optional, Tuple

from harness import Inspector, Trial, check


def ask(inspector: Inspector, path: str, headers: Optional[Dict[str, str]] = None, method: str = "GET", body: Optional[str] = None) -> Tuple[int, str, Dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", inspector.port, timeout=20)
    connection.request(method, path, body=body, headers=headers or {})
    response = connection.getresponse()
    result = (response.status, response.read().decode(errors="replace"), {name.lower(): value for name, value in response.getheaders()})
    connection.close()
    return result


@check()
def access(trial: Trial) -> None:
    """Requests without the token, for another host, or from another origin or site are refused, and learn nothing."""
    inspector = trial.inspect(trial.films())
    good = inspector.path + "api/store"
    trial.expect(ask(inspector, good)[0] == 200, "a good request is refused")
    port = inspector.port
    refused = [
        ("/", {}), ("/api/store", {}), ("/wrong-token-of-some-length-000000/api/store", {}), (inspector.path[:-2] + "/api/store", {}),
        (good, {"Host": f"evil.example:{port}"}), (good, {"Host": "evil.example"}), (good, {"Host": f"127.0.0.1:{port + 1}"}), (good, {"Host": f"127.0.0.1.evil.example:{port}"}),
        (good, {"Origin": "http://evil.example"}), (good, {"Origin": "null"}), (good, {"Origin": f"http://127.0.0.1:{port + 1}"}), (good, {"Origin": f"https://127.0.0.1:{port}"}),
        (good, {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}), (good, {"Sec-Fetch-Site": "same-site"}),
    ]
    for path, headers in refused:
        status, body, _ = ask(inspector, path, headers)
        trial.expect(status in (403, 421), f"{path} with {headers} gets status {status}")
        trial.expect("library" not in body and "films" not in body, f"the refusal tells about the store: {body}")
    for method in ["PUT", "DELETE", "OPTIONS", "TRACE"]:
        trial.expect(ask(inspector, good, method=method)[0] == 405, f"{method} is not refused")
    trial.expect(ask(inspector, inspector.path + "api/replace?in=films", method="POST", body="{}")[0] == 415, "a form is not refused")
    status, body, _ = ask(inspector, inspector.path + "api/delete?in=films", {"Content-Type": "application/json"}, "POST", '{"rowID": "1", "revision": "1"}')
    trial.expect(status == 403 and json.loads(body)["error"]["code"] == "readOnly", f"a read-only inspector writes: {body}")
    trial.expect(ask(inspector, inspector.path + "api/store?x=" + "y" * 20_000)[0] in (400, 414), "a long URL is accepted")
    for path in ["../inspector.css", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc%2fpasswd", "api", "api/unknown", "api/store/more", "%ff"]:
        trial.expect(ask(inspector, inspector.path + path)[0] in (400, 404), f"{path} is found")


@check()
def headers(trial: Trial) -> None:
    """Every response forbids foreign scripts, framing, caching and referrers."""
    inspector = trial.inspect(trial.films())
    for path in ["", "app.js", "inspector.css", "api/store", "api/unknown", "missing"]:
        _, _, found = ask(inspector, inspector.path + path)
        policy = found.get("content-security-policy", "")
        for part in ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"]:
            trial.expect(part in policy, f"{path} lacks {part}")
        trial.expect("unsafe" not in policy, "the policy allows inline scripts")
        trial.expect(found.get("x-content-type-options") == "nosniff" and found.get("referrer-policy") == "no-referrer" and found.get("cache-control") == "no-store", f"{path} lacks headers: {found}")


@check()
def loopback(trial: Trial) -> None:
    """The server listens on the loopback interface only."""
    inspector = trial.inspect(trial.films())
    with open("/proc/net/tcp") as file:
        listening = [line.split()[1] for line in file.readlines()[1:] if line.split()[3] == "0A"]
    own = [address for address in listening if int(address.split(":")[1], 16) == inspector.port]
    trial.expect(own == [f"0100007F:{inspector.port:04X}"], f"the server listens on {own}")


@check()
def cancelled(trial: Trial) -> None:
    """A slow query is cancelled after the time limit, and when the client disconnects."""
    store = trial.path("slow.db")
    trial.documents(store, "texts", [{"n": number, "text": "lorem ipsum dolor " * 60} for number in range(8000)])
    inspector = trial.inspect(store, "--time-limit", "60")
    slow = "api/count?in=texts&where=" + "%5Btext%5D%20LIKE%20'%25a%25b%25c%25d%25e%25'%20OR%20" * 6 + "%5Btext%5D%20LIKE%20'%25z%25z%25'"
    status, body, _ = ask(inspector, inspector.path + slow)
    trial.expect(status == 504 and json.loads(body)["error"]["code"] == "timeLimit", f"the query ends with {status}: {body[:300]}")

    def processor() -> float:
        with open(f"/proc/{inspector.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    connection = socket.create_connection(("127.0.0.1", inspector.port))
    connection.sendall(f"GET {inspector.path}{slow}&limit=600000 HTTP/1.1\r\nHost: 127.0.0.1:{inspector.port}\r\n\r\n".encode())
    time.sleep(0.3)
    connection.close()
    # The process is idle soon; the query would go on for much longer.
    until = time.monotonic() + 60
    while True:
        before = processor()
        time.sleep(0.5)
        if processor() - before < 0.1:
            break
        trial.expect(time.monotonic() < until, "the query goes on after the client has disconnected")
    trial.expect(ask(inspector, inspector.path + "api/store")[0] == 200, "the inspector no longer responds")


@check()
def command(trial: Trial) -> None:
    """`nanostore inspect` runs the inspector, passes its options, and explains a missing database."""
    store = trial.films()
    inspector = Inspector(trial.options.tool, "inspect", [store, "--token", "a-token-that-is-kept"])
    trial.inspectors.append(inspector)
    trial.expect(inspector.path == "/a-token-that-is-kept/", f"the path is {inspector.path}")
    trial.expect(ask(inspector, inspector.path)[0] == 200, "the page is missing")
    trial.expect(inspector.stop() == 0, "the inspector does not end in order")
    missing = subprocess.run([trial.options.tool, "inspect", trial.path("none.db")], capture_output=True, text=True, timeout=30)
    trial.expect(missing.returncode == 1 and "There is no database" in missing.stderr and not os.path.exists(trial.path("none.db")), f"a missing database ends with {missing.returncode}: {missing.stderr}")
