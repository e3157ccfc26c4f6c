"""The explorer over a real socket: what it answers, what it refuses, what it leaves behind."""

import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from onset_command import children, one_object, onset, start

HAS_SERVER = os.environ.get("ONSET_HAS_SERVER") == "TRUE"
CURVE = {"command": "aim curve", "given": {"alpha": "0.1:0.5:0.1"}}
# Far beyond any budget of points, so that it is still running when it is stopped.
LONG = {"command": "smi thresholds", "given": {"layers": "2", "tol": "1e-9"}}
PATIENCE = 3  # seconds; an end that had to wait for a slow client would take more than five
NOBODY = 65534  # a user without rights or processes, as Linux numbers them
STUDY = """command = "smi thresholds"
fixed = {layers = 1, tol = 0.05}
[axes]
rank = [1, 3]
beta = [0.5, 1.0]
"""


class Server:
    """`onset serve` in a folder of its own."""

    def __init__(self, *arguments, folder=None, **options):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(folder or self.scratch.name)
        self.process = start("serve", "--port", "0", *arguments, cwd=self.folder, **options)
        self.address = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end()
        self.process.stdout.close()
        self.process.stderr.close()
        self.scratch.cleanup()

    def end(self, number=signal.SIGINT):
        """Ends it; the seconds that this took."""
        began = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(timeout=10)
        return time.monotonic() - began

    def ask(self, path, body=None, method=None, **headers):
        """(status, answer) of a request with the token."""
        data = None if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
        return self.send(urllib.request.Request(self.address + path, data=data, method=method, headers=headers))

    @staticmethod
    def send(request):
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                text = response.read().decode()
                kind = response.headers["Content-Type"]
                return response.status, one_object(text) if "json" in kind else text
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, one_object(refusal.read().decode())

    def raw(self, data):
        """The first line of the answer to these bytes."""
        port = int(re.search(r":(\d+)/", self.address)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(data)
            return connection.recv(4096).split(b"\r\n")[0].decode()

    def memory(self):
        """Kilobytes that the server itself has in memory."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


@unittest.skipUnless(HAS_SERVER, "built without cpp-httplib")
class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def ask(self, *arguments, **options):
        return self.server.ask(*arguments, **options)

    def test_the_address_has_a_secret_and_a_loopback_host(self):
        self.assertRegex(self.server.address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{48}/$")

    def test_the_page_and_its_parts_are_there(self):
        status, page = self.ask("")
        self.assertEqual(status, 200)
        for part in re.findall(r'(?:src|href)="([a-z.]+)"', page):
            self.assertEqual(self.ask(part)[0], 200, part)

    def test_every_verb_can_be_described_and_settled_as_its_examples_say(self):
        _, catalog = self.ask("api/catalog")
        verbs = [verb for group in catalog["questions"] for verb in group["verbs"]]
        listed = json.loads(onset("list", "--format", "json").stdout)["rows"]
        of_families = [row["verb"] for row in listed if " " in row["verb"]]
        self.assertEqual(sorted(verb["command"] for verb in verbs), sorted(of_families))
        for verb in verbs:
            required = [p for p in verb["parameters"] if p["required"]]
            status, answer = self.ask("api/settle", {"command": verb["command"], "given": {}})
            # Without anything given a verb settles, or says which parameter it lacks.
            if status == 200:
                self.assertEqual(required, [], verb["command"])
                self.assertGreaterEqual(answer["cost"]["core_seconds"], 0.0)
            else:
                self.assertEqual(status, 422, answer)

    def test_a_run_gives_the_numbers_of_the_command(self):
        status, state = self.ask("api/runs", {**CURVE, "wait": 2000})
        self.assertEqual(status, 201)
        while not state["ended"]:
            _, state = self.ask(f"api/runs/{state['id']}?wait=2000")
        _, call = self.ask("api/settle", CURVE)
        printed = one_object(onset(*call["shell"].split()[1:], "--format", "json").stdout)
        record = state["result"]["record"]
        for part in ("command", "parameters", "rows", "summary", "status"):
            self.assertEqual(record[part], printed[part])

    def test_a_refusal_of_a_verb_is_its_result(self):
        _, state = self.ask("api/runs", {"command": "smi thresholds", "given": {"layers": "1", "rank": "3"}, "wait": 2000})
        while not state["ended"]:
            _, state = self.ask(f"api/runs/{state['id']}?wait=2000")
        self.assertEqual(state["result"]["record"]["status"], "refused")

    def test_requests_that_are_not_ours_are_refused(self):
        port = re.search(r":(\d+)/", self.server.address)[1]
        token = self.server.address.split("/")[3]
        cases = {
            f"http://127.0.0.1:{port}/": {},
            f"http://127.0.0.1:{port}/api/catalog": {},
            f"http://127.0.0.1:{port}/{'0' * 48}/api/catalog": {},
            f"http://127.0.0.1:{port}/{token}/api/catalog": {"Host": "example.org"},
            f"http://127.0.0.1:{port}/{token}/": {"Origin": "http://example.org"},
        }
        for address, headers in cases.items():
            status, answer = Server.send(urllib.request.Request(address, headers=headers))
            self.assertEqual(status, 403, address)
            self.assertIn("error", answer)

    def test_malformed_and_too_large_requests_are_refused(self):
        self.assertEqual(self.ask("api/runs", b"{")[0], 400)
        self.assertEqual(self.ask("api/runs", {"command": "aim curve", "given": {"alpha": 3}})[0], 422)
        self.assertEqual(self.ask("api/runs", {"command": "aim crve"})[0], 422)
        self.assertEqual(self.ask("api/nothing")[0], 404)
        self.assertEqual(self.ask("", method="PUT", body=b"x")[0], 405)
        head = f"POST /{self.server.address.split('/')[3]}/api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        large = self.server.raw((head + "Content-Length: 2000000\r\n\r\n").encode() + b"x" * 2000000)
        self.assertIn("413", large)
        asked = time.monotonic()
        announced = self.server.raw((head + "Content-Length: 2000000\r\nExpect: 100-continue\r\n\r\n").encode())
        self.assertIn("413", announced)
        self.assertLess(time.monotonic() - asked, PATIENCE)
        announced = self.server.raw((head + "Content-Length: 1\r\nExpect: 100-continue\r\n\r\n").encode())
        self.assertIn("100", announced)
        for garbage in (b"\0" * 100 + b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n"):
            self.assertRegex(self.server.raw(garbage), r"^(HTTP/1\.1 4\d\d.*|)$")
        self.assertEqual(self.ask("api/stores")[0], 200)

    def test_two_clients_run_at_the_same_time(self):
        answers = []

        def client():
            _, state = self.ask("api/runs", {**CURVE, "wait": 2000})
            while not state["ended"]:
                _, state = self.ask(f"api/runs/{state['id']}?wait=2000")
            answers.append(state)

        clients = [threading.Thread(target=client) for _ in range(2)]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        self.assertNotEqual(answers[0]["id"], answers[1]["id"])
        rows = [answer["result"]["record"]["rows"] for answer in answers]
        self.assertEqual(rows[0], rows[1])

    def test_a_stopped_run_leaves_no_process_and_no_thread(self):
        self.ask("api/runs", {**CURVE, "wait": 2000})
        threads, processes = self.server.threads(), len(children(self.server.process.pid))
        _, state = self.ask("api/runs", LONG)
        self.assertFalse(state["ended"])
        self.assertEqual(self.ask(f"api/runs/{state['id']}", method="DELETE")[0], 200)
        self.assertTrue(wait_until(lambda: self.ask(f"api/runs/{state['id']}")[1]["ended"]))
        _, state = self.ask(f"api/runs/{state['id']}")
        if "result" in state:  # rows that it had by then
            self.assertEqual(state["result"]["record"]["status"], "interrupted")
        self.assertTrue(wait_until(lambda: self.server.threads() <= threads
                                   and len(children(self.server.process.pid)) <= processes))

    def test_too_many_runs_at_a_time_are_refused(self):
        started = [self.ask("api/runs", LONG) for _ in range(5)]
        self.assertIn(429, [status for status, _ in started])
        for status, state in started:
            if status == 201:
                self.ask(f"api/runs/{state['id']}", method="DELETE")
                self.assertTrue(self.ask(f"api/runs/{state['id']}?wait=2000")[1]["ended"])

    def test_two_hundred_requests_leave_the_memory_as_it_was(self):
        few = {"command": "aim thresholds", "given": {}, "wait": 2000}
        for _ in range(120):  # until every thread of the server has the room that its answers take
            self.ask("api/runs", few)
            self.ask("api/catalog")
        before = self.server.memory()
        for _ in range(100):
            self.assertEqual(self.ask("api/runs", few)[0], 201)
            self.assertEqual(self.ask("api/catalog")[0], 200)
        growth = self.server.memory() - before
        self.assertLess(growth, 4096, "kilobytes; two hundred lost answers would be 10000")


@unittest.skipUnless(HAS_SERVER, "built without cpp-httplib")
class Stores(unittest.TestCase):
    def test_a_store_is_watched_while_a_sweep_writes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "toy.toml").write_text(STUDY, encoding="utf-8")
            with Server("--store", "toy.db", "other.db", folder=folder) as server:
                self.assertEqual([store["file"] for store in server.ask("api/stores")[1]], ["toy.db", "other.db"])
                self.assertEqual(server.ask("api/stores/0")[1]["version"], "")
                sweep = onset("sweep", str(path / "toy.toml"), "--store", str(path / "toy.db"))
                self.assertEqual(sweep.returncode, 3, sweep.stderr)
                store = server.ask("api/stores/0")[1]
                study = store["studies"][0]
                self.assertEqual(study["counts"], {"ok": 2, "refused": 2})
                part = server.ask("api/stores/0/0")[1]
                self.assertEqual(len(part["problems"]), 2)
                retry = onset(*part["problems"][0]["command"].split()[1:])
                self.assertEqual(retry.returncode, 3, "the command of the failed point fails the same way")
                self.assertNotIn("studies", server.ask(f"api/stores/0?seen={store['version']}")[1])
                self.assertIn("Onset report", server.ask("report/0")[1])
                self.assertEqual(sorted(os.listdir(folder)), ["toy.db", "toy.toml"])

    def test_a_store_that_is_not_there_yet_is_said_to_be_watched_for(self):
        with Server("--store", "later.db") as server:
            self.assertEqual(server.ask("api/stores/0")[1]["version"], "")
            server.end()
            self.assertRegex(server.process.stderr.read(), "later.db is not there yet; it is watched for")

    def test_a_study_is_composed_saved_and_started(self):
        with Server() as server:
            study = {"command": "smi thresholds", "given": {"layers": "1", "tol": "0.05"},
                     "axes": {"beta": "0.5:2:0.5"}, "name": "stairs"}
            self.assertEqual(server.ask("api/compose", study)[1]["points"], 4)
            status, answer = server.ask("api/studies", study)
            self.assertEqual(status, 201, answer)
            self.assertTrue(wait_until(lambda: not server.ask("api/stores/0")[1]["running"]))
            done = server.ask("api/stores/0")[1]["studies"][0]
            self.assertEqual(done["counts"], {"ok": 4})
            self.assertEqual(server.ask("api/studies", study)[0], 409)
            again = onset("sweep", str(server.folder / "stairs.toml"), "--store", str(server.folder / "stairs.db"),
                          "--format", "json")
            self.assertEqual(json.loads(again.stdout)["rows"][0]["computed"], 0)


@unittest.skipUnless(HAS_SERVER, "built without cpp-httplib")
class Ending(unittest.TestCase):
    def test_ctrl_c_ends_it_within_a_second_runs_and_sweeps_included(self):
        with Server() as server:
            server.ask("api/runs", LONG)
            status, _ = server.ask("api/studies", {"command": "smi thresholds", "name": "long",
                                                   "given": {"layers": "2", "tol": "1e-9"}, "axes": {"beta": "1,2"}})
            self.assertEqual(status, 201)
            pid = server.process.pid
            self.assertTrue(wait_until(lambda: len(children(pid)) >= 2))
            time.sleep(0.3)  # until they compute
            family = set(children(pid))
            family |= {grandchild for child in family for grandchild in children(child)}
            port = int(re.search(r":(\d+)/", server.address)[1])
            with socket.create_connection(("127.0.0.1", port)) as idle:  # a browser that holds on
                idle.sendall(b"GET / HT")
                seconds = server.end()
            self.assertEqual(server.process.returncode, 0)
            self.assertLess(seconds, PATIENCE)
            self.assertTrue(wait_until(lambda: not any(pathlib.Path(f"/proc/{one}").exists() for one in family), 3))

    def test_requests_that_never_end_keep_nobody_waiting(self):
        """A hundred clients without the token, of which every one sends a line now and then."""
        with Server() as server:
            server.ask("")  # after which it has all the threads that it needs for one client
            threads = server.threads()
            port = int(re.search(r":(\d+)/", server.address)[1])
            slow, over = [], threading.Event()

            def send_lines():
                while not over.wait(0.2):
                    for connection in slow:
                        with contextlib.suppress(OSError):
                            connection.sendall(b"X: y\r\n")

            sender = threading.Thread(target=send_lines)
            try:
                for _ in range(100):
                    slow.append(socket.create_connection(("127.0.0.1", port)))
                    slow[-1].sendall(b"GET / HTTP/1.1\r\n")
                sender.start()
                for _ in range(4):  # a server that waited for them would never answer
                    self.assertEqual(server.ask("")[0], 200)
            finally:
                over.set()
                sender.join()
                for connection in slow:
                    connection.close()
            self.assertTrue(wait_until(lambda: server.threads() <= threads), "their threads end")

    @unittest.skipUnless(os.geteuid() == 0, "root has no limit of threads, and starts it as another user")
    def test_it_goes_on_where_no_thread_can_be_made(self):
        def resting_threads(server):
            self.assertEqual(server.ask("")[0], 200)
            time.sleep(2)  # after which it has no more threads than it keeps
            return server.threads()

        try:
            usual = Server(user=NOBODY)
        except PermissionError:
            self.skipTest("that user may not run the command here")
        with usual:
            most = resting_threads(usual)
        limit = lambda: resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
        with Server(user=NOBODY, preexec_fn=limit) as server:
            for _ in range(2):
                self.assertEqual(resting_threads(server), most)

    def test_sigterm_ends_it_too(self):
        with Server() as server:
            self.assertLess(server.end(signal.SIGTERM), PATIENCE)
            self.assertEqual(server.process.returncode, 0)


class Misuse(unittest.TestCase):
    def test_wrong_options_are_usage_errors(self):
        for arguments in (["--port", "70000"], ["--port", "x"], ["stray.db"], ["--prot", "1"], ["--store", ""]):
            run = onset("serve", *arguments)
            self.assertEqual(run.returncode, 2, (arguments, run.stderr))

    @unittest.skipIf(HAS_SERVER, "built with cpp-httplib")
    def test_a_build_without_it_says_how_to_get_it(self):
        run = onset("serve")
        self.assertEqual(run.returncode, 2)
        self.assertIn("libcpp-httplib-dev", run.stderr)

    @unittest.skipUnless(HAS_SERVER, "built without cpp-httplib")
    def test_a_port_that_is_taken_and_a_file_that_is_no_store_are_file_errors(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            run = onset("serve", "--port", str(taken.getsockname()[1]))
        self.assertEqual(run.returncode, 4)
        self.assertIn("--port 0", run.stderr)
        run = onset("serve", "--port", "0", "--store", __file__)
        self.assertEqual(run.returncode, 4, run.stderr)


if __name__ == "__main__":
    unittest.main()
