"""The HTML report: from the shell, and as a browser shows it."""

import html
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

from onset_command import SOON, hung_gnuplot, onset, start

# The last layer has rank one or two, so half of the points are refused.
STUDY = """title = "Three axes"
command = "smi thresholds"
fixed = {layers = 1, tol = 0.05}
[axes]
rank = [1, 3]
tokens = [2, 3]
beta = [0.5, 1.0, 2.0]
"""

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

# Before anything else of the page: whatever goes wrong in it is kept.
LISTEN = """<script>
window.problems = [];
addEventListener("error", event => problems.push(event.message));
addEventListener("securitypolicyviolation", event => problems.push(event.blockedURI));
for (const level of ["error", "warn"]) console[level] = (...words) => problems.push(words.join(" "));
</script>"""

# After everything else: what a reader would look at and click on.
LOOK = """<script>
const column = (table, index) => [...table.tBodies[0].rows].map(row => row.cells[index].textContent);
const click = (table, name) => {
  const heads = [...table.tHead.rows[0].cells];
  const index = heads.findIndex(head => head.textContent === name);
  heads[index].querySelector("button").click();
  return {sort: heads[index].getAttribute("aria-sort"), values: column(table, index)};
};
const results = document.querySelector('[aria-label^="Results"] table');
const seen = {
  up: click(results, "alpha"), down: click(results, "alpha"), words: click(results, "kind"),
  others: [...results.tHead.rows[0].cells].filter(head => head.ariaSort !== "none").length,
  figures: [...document.querySelectorAll("figure svg")].map(svg => {
    const box = svg.getBoundingClientRect();
    return [box.width, box.height, svg.querySelectorAll("path").length];
  }),
  ids: [...document.querySelectorAll("[id]")].map(one => one.id),
  page: document.documentElement.scrollWidth, window: innerWidth,
  failed: document.querySelectorAll('[aria-label$="need a look"] tbody tr').length,
  problems,
};
// The report's own module has run by now, as modules do before the page is loaded.
addEventListener("load", async () => {
const box = document.querySelector(".interactive");
box.open = true;
await new Promise(done => setTimeout(done, 300));
seen.lines = box.querySelectorAll("svg g[clip-path] path[fill=none]").length;
seen.names = [...box.querySelectorAll(".key button")].map(one => one.textContent);
seen.page = document.documentElement.scrollWidth;
const note = document.createElement("pre");
note.id = "seen";
note.textContent = JSON.stringify(seen);
document.body.append(note);
});
</script>"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        (cls.path / "axes.toml").write_text(STUDY, encoding="utf-8")
        cls.store = str(cls.path / "axes.db")
        cls.sweep = onset("sweep", str(cls.path / "axes.toml"), "--store", cls.store)
        cls.page = cls.path / "page.html"
        cls.report = onset("report", cls.store, "--out", str(cls.page))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def look(self, width):
        """What the browser sees at that width; skips where there is none."""
        if not CHROMIUM:
            self.skipTest("chromium is not installed (Debian package chromium)")
        text = self.page.read_text(encoding="utf-8")
        text = text.replace("<head>", "<head>" + LISTEN, 1).replace("</body>", LOOK + "</body>", 1)
        watched = self.path / "watched.html"
        watched.write_text(text, encoding="utf-8")
        run = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={self.path / 'profile'}", f"--window-size={width},900",
             "--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom", watched.as_uri()],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=True)
        self.assertNotIn("CONSOLE", run.stderr)
        seen = re.search(r'<pre id="seen">(.*?)</pre>', run.stdout, re.DOTALL)
        self.assertIsNotNone(seen, run.stdout[-2000:])
        return json.loads(html.unescape(seen[1]))

    def test_the_sweep_has_failed_points(self):
        self.assertEqual(self.sweep.returncode, 3, self.sweep.stderr)

    def test_the_command_names_the_page(self):
        self.assertEqual(self.report.returncode, 0, self.report.stderr)
        self.assertEqual(self.report.stdout, f"{self.page}\n")

    def test_the_page_is_the_same_every_time(self):
        again = self.path / "again.html"
        self.assertEqual(onset("report", self.store, "--out", str(again)).returncode, 0)
        self.assertEqual(again.read_bytes(), self.page.read_bytes())

    def test_the_page_asks_for_nothing_from_a_network(self):
        text = self.page.read_text(encoding="utf-8")
        self.assertIsNone(re.search(r'(src|href)="(?!#|data:)', text))
        self.assertNotIn("@import", text)

    def test_its_commands_compute_the_points(self):
        text = html.unescape(self.page.read_text(encoding="utf-8"))
        command = re.search(r"<code>onset (smi thresholds [^<]*--rank 1[^<]*|smi thresholds "
                            r"--beta 0.5[^<]*)</code>", text)
        self.assertIsNotNone(command)

    def test_a_browser_opens_it_without_complaints_and_shows_its_figures(self):
        seen = self.look(1200)
        self.assertEqual(seen["problems"], [])
        self.assertGreaterEqual(len(seen["figures"]), 1)
        for width, height, paths in seen["figures"]:
            self.assertGreater(width, 200)
            self.assertGreater(height, 150)
            self.assertGreater(paths, 5)
        self.assertEqual(len(seen["ids"]), len(set(seen["ids"])))
        self.assertEqual(seen["failed"], 6)

    def test_its_interactive_figure_draws_every_curve(self):
        seen = self.look(1200)
        self.assertGreater(seen["lines"], 1)
        self.assertTrue(any("kind weak" in name for name in seen["names"]), seen["names"])

    def test_tables_sort_by_number_and_by_word(self):
        seen = self.look(1200)
        numbers = [float(re.sub(r"\(.*\)", "", text)) for text in seen["up"]["values"]]
        self.assertGreater(len(set(numbers)), 2)
        self.assertEqual(numbers, sorted(numbers))
        self.assertEqual(seen["up"]["sort"], "ascending")
        self.assertEqual(seen["down"]["values"][0], seen["up"]["values"][-1])
        self.assertEqual(seen["down"]["sort"], "descending")
        self.assertEqual(seen["words"]["values"], sorted(seen["words"]["values"]))
        self.assertEqual(seen["others"], 1)

    def test_it_fits_a_phone(self):
        seen = self.look(500)  # headless Chromium has no narrower windows
        self.assertLessEqual(seen["page"], seen["window"])

    def test_only_a_plain_file_is_replaced(self):
        pipe, link, victim = self.path / "pipe", self.path / "link", self.path / "victim"
        os.mkfifo(pipe)
        victim.write_text("precious", encoding="utf-8")
        link.symlink_to(victim)
        for command in ("report", "export"):
            for out in (pipe, link, self.path, "/dev/null", "/dev/stdout"):
                run = onset(command, self.store, "--out", str(out))
                self.assertEqual(run.returncode, 4, run.stderr)
                self.assertIn("allowed: a plain file", run.stderr)
        self.assertTrue(pipe.is_fifo() and link.is_symlink())
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        self.assertEqual(victim.read_text(encoding="utf-8"), "precious")

    def test_a_file_is_wanted(self):
        for command in ("report", "export"):
            self.assertEqual(onset(command, self.store, "--out", "").returncode, 2)

    def stop_a_report(self, **options):
        """Interrupts a report that has begun, which must end soon and write nothing."""
        page = self.path / "stopped.html"
        process = start("report", self.store, "--out", str(page), **options)
        time.sleep(0.5)
        self.assertIsNone(process.poll(), "the report ended by itself")
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - asked, SOON)
        self.assertEqual((process.returncode, out), (130, ""), errors)
        self.assertEqual(errors, "onset: interrupted: no page was written\n")
        self.assertFalse(page.exists())

    def test_an_interrupt_ends_it_while_it_waits_for_the_store(self):
        other = sqlite3.connect(self.store, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        self.addCleanup(other.close)
        self.stop_a_report()

    def test_an_interrupt_ends_it_while_a_figure_is_drawn(self):
        self.stop_a_report(env=hung_gnuplot(self.path / "programs"))

    def test_without_gnuplot_the_page_says_so(self):
        page = self.path / "plain.html"
        run = onset("report", self.store, "--out", str(page), env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(run.returncode, 0, run.stderr)
        text = page.read_text(encoding="utf-8")
        self.assertIn("gnuplot-nox", text)
        self.assertNotIn("<svg", text)


class Misuse(unittest.TestCase):
    def test_a_store_is_wanted(self):
        self.assertEqual(onset("report").returncode, 2)

    def test_a_store_that_is_not_there_is_a_file_error(self):
        run = onset("report", "no/such.db")
        self.assertEqual(run.returncode, 4)
        self.assertIn("no/such.db", run.stderr)


if __name__ == "__main__":
    unittest.main()
