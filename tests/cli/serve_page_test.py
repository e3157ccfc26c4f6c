"""The explorer's page in a real browser: choose, slide, run, stop, compare, save, watch."""

import json
import os
import pathlib
import signal
import tempfile
import time
import unittest

from browser import Browser, CHROMIUM
from onset_command import onset, start
from serve_test import HAS_SERVER, Server, wait_until

RESULT = "document.querySelector('#status')"
ROWS = "document.querySelectorAll('#result tbody tr').length"
SERIES = "[...document.querySelectorAll('#result .key button')].map(one => one.textContent)"
SLOW = """command = "smi thresholds"
fixed = {layers = 1, tol = 0.05}
[axes]
beta = "0.1:3:0.02"
"""


def verb_is(command):
    return f"document.querySelector('#verb')?.textContent === {json.dumps(command)}"


@unittest.skipUnless(HAS_SERVER, "built without cpp-httplib")
@unittest.skipUnless(CHROMIUM, "chromium is not installed (Debian package chromium)")
class Page(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.server = Server("--store", "watched.db", folder=self.folder)
        self.addCleanup(self.server.__exit__)
        self.browser = Browser()
        self.addCleanup(self.browser.close)

    def tearDown(self):
        self.assertEqual(self.browser.problems, [])

    def open(self, view=""):
        self.browser.open(self.server.address + view)

    def box(self):
        """The place of the first picture on the screen."""
        self.browser.value("document.querySelector('#result .plot svg').scrollIntoView({block: 'center'})")
        return self.browser.value("(box => [box.left, box.top, box.width, box.height])"
                                  "(document.querySelector('#result .plot svg').getBoundingClientRect())")

    def at(self, across, down, *kinds):
        left, top, width, height = self.box()
        for kind in kinds:
            self.browser.mouse(kind, left + across * width, top + down * height)

    def test_a_verb_is_chosen_run_and_drawn(self):
        self.open()
        self.browser.wait_for(RESULT)
        self.assertEqual(self.browser.value(ROWS), 20)
        path = self.browser.value("document.querySelector('#result .plot svg g[clip-path] path[fill=none]').getAttribute('d')")
        self.assertEqual(path.count("L"), 19, "a line through all twenty points")
        self.assertEqual(self.browser.value("document.querySelector('#command').textContent"),
                         "onset aim curve --alpha 0.01:0.2:0.01")
        self.browser.type_into("#question", "ssi sie")
        self.browser.wait_for(verb_is("ssi sie"))
        self.browser.wait_for(f"{RESULT}?.textContent.startsWith('ok')")

    def test_the_picture_follows_the_slider(self):
        self.open()
        self.browser.wait_for(RESULT)
        curve = "document.querySelector('#result .plot svg g[clip-path] path[fill=none]').getAttribute('d')"
        before = self.browser.value(curve)
        for value in ("0.7", "0.9", "1.1"):
            self.browser.type_into("[aria-label='rho, slider']", value)
        self.browser.wait_for(f"{curve} !== {json.dumps(before)}")
        self.browser.wait_for("document.querySelector('#command').textContent.includes('--rho 1.1')")
        self.browser.wait_for("document.querySelector('#stop').disabled")
        shown = json.loads(onset("aim", "curve", "--alpha", "0.01:0.2:0.01", "--rho", "1.1", "--format", "json").stdout)
        cell = self.browser.wait_for("document.querySelector('#result tbody tr td:nth-child(4)').textContent")
        self.assertAlmostEqual(float(cell), shown["rows"][0]["mmse"], places=9)  # ten digits are shown

    def test_a_wrong_value_is_named_at_its_field(self):
        self.open()
        self.browser.wait_for(RESULT)
        self.browser.type_into("#field-rho", "-3")
        self.browser.wait_for("document.querySelector('#field-rho-problem').textContent.includes('out of range')")
        self.browser.type_into("#field-rho", "0.5")
        self.browser.wait_for("document.querySelector('#field-rho-problem').textContent === ''")
        # The browser itself notes every refusal of a server; the page shows it and says no more.
        self.assertEqual([problem for problem in self.browser.problems if "status of 422" not in problem], [])
        self.browser.problems.clear()

    def test_a_long_run_shows_progress_and_stops(self):
        self.open("#view=explore&command=smi+thresholds&p.layers=2&p.tol=1e-9")
        self.browser.wait_for("document.querySelector('#cost')?.textContent.includes('one core')")
        self.browser.click("#run")
        self.browser.wait_for("document.querySelector('#progress progress')")
        self.browser.click("#stop")
        self.browser.wait_for("document.querySelector('#progress').textContent.includes('Stopped')", 5)

    def test_the_rows_of_a_stopped_run_stay(self):
        # Every point takes a moment, and there are very many: rows come in, and never all of them.
        self.open("#view=explore&command=aim+amp&p.alpha=0.1:1:0.0005&p.dim=40&p.runs=4")
        self.browser.wait_for("document.querySelector('#cost')?.textContent.includes('one core')")
        self.browser.click("#run")
        self.browser.wait_for(f"{ROWS} > 0 && !document.querySelector('#stop').disabled")
        self.browser.click("#stop")
        said = self.browser.wait_for(f"{RESULT}?.textContent.startsWith('Stopped') && {RESULT}.textContent", 5)
        rows = self.browser.value(ROWS)
        self.assertIn("row" if rows == 1 else f"{rows} rows", said)
        self.assertLess(rows, 1801)

    def test_the_phases_of_mha_are_shown_as_they_pass(self):
        self.open("#view=explore&command=mha+trial&p.heads=2&p.dim=8&p.tokens=3&p.samples=100000")
        self.browser.wait_for("document.querySelector('#cost')?.textContent.includes('one core')")
        self.browser.click("#run")
        first = self.browser.wait_for(f"!document.querySelector('#stop').disabled && {ROWS}", 60)
        self.browser.wait_for(f"{RESULT}?.textContent.startsWith('ok')", 120)
        self.assertLess(first, self.browser.value(ROWS))
        # The picture has the columns of the last phase too, and phases are named by what tells them apart.
        self.assertIn("theta_error", self.browser.value(SERIES))
        names = self.browser.value("[...document.querySelectorAll('#result .plot svg text')].map(one => one.textContent)")
        self.assertIn("polish", names)

    def test_notes_are_shown_and_a_constant_has_an_axis(self):
        self.open("#view=explore&command=smi+thresholds&p.layers=1&p.tol=0.05&p.stages=1")
        self.browser.wait_for(f"{RESULT}?.textContent.startsWith('ok')")
        self.browser.wait_for("document.querySelector('#explore').textContent.includes('Ended at stage 1')")
        self.assertNotIn("[object", self.browser.value("document.querySelector('#explore').textContent"))
        ticks = self.browser.value("[...document.querySelectorAll('#result .plot svg text')].map(one => one.textContent)")
        self.assertGreater(len(set(ticks)), 3, ticks)

    def test_a_grid_is_put_together_from_its_ends(self):
        self.open()
        self.browser.wait_for(RESULT)
        self.browser.value("document.querySelector('.field .grid').open = true")
        self.browser.wait_for("document.querySelector('[aria-label=\"Grid of alpha\"]')?.value === 'steps'")
        self.browser.type_into("[aria-label='to of alpha']", "0.1")
        self.browser.wait_for("document.querySelector('#field-alpha').value === '0.01:0.1:0.01'")
        self.browser.wait_for(f"{ROWS} === 10")
        self.browser.type_into("[aria-label='Grid of alpha']", "log")
        self.browser.wait_for("document.querySelector('#field-alpha').value === 'log:0.01:0.1:10'")
        self.browser.type_into("[aria-label='count of alpha']", "3")
        self.browser.wait_for(f"{ROWS} === 3")
        self.browser.type_into("[aria-label='Grid of alpha']", "list")
        self.browser.wait_for("document.querySelector('#field-alpha').value === '0.01,0.031622777,0.1'")
        self.browser.type_into("#field-alpha", "0.1:0.3:0.1")
        self.browser.wait_for("document.querySelector('[aria-label=\"step of alpha\"]')?.value === '0.1'")

    def test_two_settings_are_compared(self):
        self.open()
        self.browser.wait_for(RESULT)
        self.browser.click("#keep")
        self.browser.type_into("#field-rho", "0.2")
        names = self.browser.wait_for(f"{SERIES}.some(name => name.includes('rho 0.2')) && {SERIES}")
        self.assertEqual(len(names), 2)
        self.assertTrue(any("rho 0.5" in name for name in names), names)
        self.browser.click("#result .key button")
        self.browser.wait_for("document.querySelectorAll('#result .plot svg g[clip-path] > path[fill=none]').length === 1")

    def test_runs_are_averaged(self):
        chain = ["--engine", "chain", "--dim", "100", "--time", "4", "--records", "4", "--runs", "3"]
        self.open("#view=explore&command=smi+sgd&p.engine=chain&p.dim=100&p.time=4&p.records=4&p.runs=3")
        self.browser.wait_for(f"{RESULT}?.textContent.startsWith('ok')")
        self.assertEqual(self.browser.value("document.querySelectorAll('#result .plot svg g[clip-path] > path[fill=none]').length"), 1)
        path = self.browser.value("document.querySelector('#result .plot svg g[clip-path] path[fill=none]').getAttribute('d')")
        rows = json.loads(onset("smi", "sgd", *chain, "--format", "json").stdout)["rows"]
        self.assertEqual(path.count("L") + 1, len({row["time"] for row in rows}), "one point for every time")

    def test_a_link_keeps_what_is_compared(self):
        self.open()
        self.browser.wait_for(RESULT)
        self.browser.click("#keep")
        self.browser.type_into("#field-rho", "0.2")
        self.browser.wait_for(f"{SERIES}.some(name => name.includes('rho 0.2'))")
        names = self.browser.value(SERIES)
        link = self.browser.value("location.href")
        self.browser.open("about:blank")
        self.browser.open(link)
        self.browser.wait_for(f"{SERIES}.length === 2")
        self.assertEqual(self.browser.value(SERIES), names)
        self.assertEqual(self.browser.value("location.href"), link)
        # What is dear waits for a click, and can be taken away.
        self.browser.open("about:blank")
        self.open("#view=explore&command=smi+thresholds&p.layers=1&with=layers%3D3")
        self.browser.wait_for("[...document.querySelectorAll('button')].some(one => one.textContent.startsWith('Compute layers 3'))")
        self.browser.click("[aria-label='Remove layers 3']")
        self.browser.wait_for("!location.hash.includes('with=')")

    def test_a_link_keeps_the_zoom_and_what_is_hidden(self):
        self.open("#view=explore&command=aim+curve&p.alpha=0.01%3A0.2%3A0.01&y=q,mmse")
        self.browser.wait_for(RESULT)
        self.browser.click("#result .key button")
        self.browser.value("document.querySelector('#result .plot svg').dispatchEvent(new KeyboardEvent('keydown', {key: '+'}))")
        self.browser.wait_for("location.hash.includes('zoom=')")
        link = self.browser.value("location.href")
        curve = "document.querySelector('#result .plot svg g[clip-path] path[fill=none]').getAttribute('d')"
        shown = self.browser.value(curve)
        self.browser.open("about:blank")
        self.browser.open(link)
        self.browser.wait_for(RESULT)
        self.assertEqual(self.browser.value(curve), shown)
        self.assertEqual(self.browser.value("[...document.querySelectorAll('#result .key button')].map(one => one.ariaPressed)"), ["false", "true"])
        self.assertEqual(self.browser.value("location.href"), link)

    def test_order_and_open_lists_stay_when_rows_change(self):
        self.open()
        self.browser.wait_for(RESULT)
        self.browser.value("document.querySelector('#result details').open = true")
        self.browser.click("#result th:nth-child(4) button")
        column = "[...document.querySelectorAll('#result tbody td:nth-child(4)')].map(cell => parseFloat(cell.textContent))"
        before = self.browser.value(column)
        self.browser.type_into("#field-rho", "0.9")
        self.browser.wait_for(f"{column}.join() !== {json.dumps(before)}.join()")
        cells = self.browser.value(column)
        self.assertEqual(cells, sorted(cells))
        self.assertTrue(self.browser.value("document.querySelector('#result details').open"))

    def test_the_keyboard_starts_a_path(self):
        self.open("#view=explore&command=ssi+loss&p.a=1&p.omega=0.67&p.points=11")
        self.browser.wait_for(f"{verb_is('ssi loss')} && {RESULT}")
        self.browser.value("document.querySelector('#result .plot svg').focus()")
        # The first step goes to the lowest point of the disk, the second to its neighbour in the next line.
        for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowUp", "Enter"):
            self.browser.value(f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}}))")
        self.browser.wait_for("document.querySelectorAll('#result .plot svg g[clip-path] > g circle').length === 1")
        self.assertEqual(self.browser.value("document.activeElement.tagName"), "svg", "whoever steps through points goes on")

    def test_the_mouse_reads_zooms_and_shows_the_spectrum(self):
        self.open()
        self.browser.wait_for(RESULT)
        for step in range(20):  # across the picture, until a point is near
            self.at(0.2 + 0.03 * step, 0.45, "mouseMoved")
            if self.browser.value("!document.querySelector('#result .tip').hidden"):
                break
        self.assertRegex(self.browser.value("document.querySelector('#result .tip').textContent"), r"mmse: 0\.\d+ at alpha = 0\.")
        marks = "document.querySelectorAll('#result .plot svg g[clip-path] circle').length"
        ticks = "document.querySelector('#result .plot svg text').textContent"
        before = self.browser.value(ticks)
        left, top, width, height = self.box()
        self.browser.mouse("mouseMoved", left + 0.4 * width, top + 0.3 * height)
        self.browser.mouse("mousePressed", left + 0.4 * width, top + 0.3 * height)
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=left + 0.6 * width, y=top + 0.6 * height,
                          button="left", buttons=1)
        self.browser.mouse("mouseReleased", left + 0.6 * width, top + 0.6 * height)
        self.browser.wait_for(f"{ticks} !== {json.dumps(before)}")
        self.assertEqual(self.browser.value(marks), 20)
        self.browser.value("document.querySelector('#result .plot svg').dispatchEvent(new KeyboardEvent('keydown', {key: '0'}))")
        self.browser.wait_for(f"{ticks} === {json.dumps(before)}")
        self.at(0.5, 0.5, "mouseMoved", "mousePressed", "mouseReleased")
        self.browser.wait_for("document.querySelectorAll('#result .pair svg').length === 2")

    def test_a_path_starts_where_the_landscape_is_clicked(self):
        self.open("#view=explore&command=ssi+loss&p.a=1&p.omega=0.67&p.points=21")
        self.browser.wait_for(f"{verb_is('ssi loss')} && {RESULT}")
        self.assertTrue(self.browser.value("document.querySelector('#result .plot svg image') !== null"))
        starts = "document.querySelectorAll('#result .plot svg g[clip-path] > g circle').length"
        self.assertEqual(self.browser.value(starts), 0)
        self.at(0.4, 0.35, "mouseMoved", "mousePressed", "mouseReleased")
        self.browser.wait_for(f"{starts} === 1")

    def test_a_click_on_the_phase_diagram_opens_a_landscape(self):
        self.open("#view=explore&command=ssi+phase&p.a=0.5,1,1.5&p.omega=0.2,0.5,0.8")
        self.browser.wait_for(f"{verb_is('ssi phase')} && {RESULT}")
        words = self.browser.value("[...document.querySelectorAll('#result .key span')].map(one => one.textContent)")
        self.assertIn("semantic", words)
        self.at(0.5, 0.5, "mouseMoved", "mousePressed", "mouseReleased")
        self.browser.wait_for(f"{verb_is('ssi loss')} && location.hash.includes('p.omega=')")

    def test_tables_sort_and_results_are_saved(self):
        self.open()
        self.browser.wait_for(RESULT)
        self.browser.click("#result th:nth-child(4) button")
        cells = self.browser.value("[...document.querySelectorAll('#result tbody td:nth-child(4)')].map(cell => parseFloat(cell.textContent))")
        self.assertEqual(cells, sorted(cells))
        for kind in ("SVG", "PNG", "CSV", "JSON"):
            self.browser.value(f"[...document.querySelectorAll('#result button')].find(one => one.textContent === '{kind}').click()")
            file = self.browser.downloads / f"aim-curve.{kind.lower()}"
            self.assertTrue(wait_until(lambda: file.exists() and file.stat().st_size > 0 and self.browser.value("1") == 1), kind)
        self.assertEqual((self.browser.downloads / "aim-curve.png").read_bytes()[:4], b"\x89PNG")
        self.assertIn("</svg>", (self.browser.downloads / "aim-curve.svg").read_text(encoding="utf-8"))
        printed = onset("aim", "curve", "--alpha", "0.01:0.2:0.01", "--format", "csv").stdout.splitlines()
        saved = (self.browser.downloads / "aim-curve.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(saved[0], printed[0])
        numbers = lambda line: [float(cell) for cell in line.split(",") if cell not in ("true", "false", "")]
        self.assertEqual([numbers(line) for line in saved[1:]], [numbers(line) for line in printed[1:]])
        record = json.loads((self.browser.downloads / "aim-curve.json").read_text(encoding="utf-8"))
        self.assertEqual(record["command"], "aim curve")

    def test_the_command_is_copied(self):
        origin = self.server.address.rsplit("/", 2)[0]
        self.browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=origin)
        self.browser.call("Emulation.setFocusEmulationEnabled", enabled=True)  # only a page in front may copy
        self.open("#view=explore&command=aim+curve&p.alpha=0.1%3A1%3A0.1")
        self.browser.wait_for(RESULT)
        self.browser.value("[...document.querySelectorAll('button')].find(one => one.textContent === 'Copy').click()")
        self.browser.wait_for("[...document.querySelectorAll('button')].some(one => one.textContent === 'Copied')")
        self.browser.value("navigator.clipboard.readText().then(text => { window.copied = text; })")
        self.browser.wait_for("window.copied")
        self.assertEqual(self.browser.value("window.copied"), "onset aim curve --alpha 0.1:1:0.1")

    def test_a_link_opens_the_same_view(self):
        self.open("#view=explore&command=aim+curve&p.alpha=0.1%3A1%3A0.1&p.channel=hardmax&x=alpha&y=q,mmse&logx=1")
        self.browser.wait_for(RESULT)
        self.assertEqual(self.browser.value("document.querySelector('#field-channel').value"), "hardmax")
        self.assertEqual(self.browser.value(SERIES), ["q", "mmse"])
        self.assertIn("logx=1", self.browser.value("location.hash"))
        link = self.browser.value("location.href")
        self.browser.open("about:blank")
        self.browser.open(link)
        self.browser.wait_for(RESULT)
        self.assertEqual(self.browser.value(SERIES), ["q", "mmse"])
        self.assertEqual(self.browser.value("location.href"), link)

    def test_a_sweep_is_watched_killed_and_resumed(self):
        (self.folder / "watched.toml").write_text(SLOW.replace("0.1:3:0.02", "0.1:3:0.004"), encoding="utf-8")
        self.open("#view=watch")
        self.browser.wait_for("document.querySelector('#watch')?.textContent.includes('no such file yet')")
        count = "Number((document.querySelector('#watch .chips .ok')?.textContent ?? '0').split(' ')[0])"
        sweep = start("sweep", "watched.toml", "--threads", "1", cwd=self.folder)
        self.browser.wait_for(f"{count} > 0")
        sweep.send_signal(signal.SIGKILL)
        sweep.communicate()
        before = self.browser.value(count)
        self.assertLess(before, 726, "killed before it was done")
        run = onset("sweep", "watched.toml", "--quiet", cwd=self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.browser.wait_for(f"{count} === 726")
        # The staircase: one curve for every kind of threshold, against the axis.
        self.assertGreater(self.browser.value("document.querySelectorAll('#watch .plot svg path').length"), 1)
        self.assertIn("beta", self.browser.value("document.querySelector('#watch .plot svg').getAttribute('aria-label')"))

    def test_a_study_is_made_on_the_page(self):
        self.open("#view=explore&command=smi+thresholds&p.layers=1&p.tol=0.05")
        self.browser.wait_for(verb_is("smi thresholds"))
        self.browser.value("document.querySelector('#composer').open = true")
        self.browser.click("#add-axis")
        self.browser.type_into("#composer select", "beta")
        self.browser.type_into("[aria-label='Values of layers'], [aria-label='Values of beta'], #composer .row input", "0.5,1,2")
        self.browser.wait_for("document.querySelector('#study-facts').textContent.startsWith('3 points')")
        self.browser.type_into("#study-name", "mine")
        self.browser.click("#start-study")
        self.browser.wait_for("document.querySelector('#watch .chips .ok')?.textContent === '3 ok'")
        self.assertTrue((self.folder / "mine.db").exists())
        self.assertIn("beta = [0.5, 1.0, 2.0]", (self.folder / "mine.toml").read_text(encoding="utf-8"))

    def test_a_tied_parameter_follows_the_axis(self):
        self.open("#view=explore&command=smi+thresholds&p.layers=1&p.tol=0.05")
        self.browser.wait_for(verb_is("smi thresholds"))
        self.browser.value("document.querySelector('#composer').open = true")
        self.browser.click("#add-axis")
        self.browser.type_into("#composer .axis select", "beta")
        self.browser.type_into("[aria-label='Values of beta']", "0.5,1")
        self.browser.click("#add-tie")
        self.browser.type_into("#composer .tie select", "noise")
        self.browser.type_into("[aria-label='Expression of noise']", "0.1*beta")
        self.browser.wait_for("document.querySelector('#study-text').textContent.includes('noise = \"0.1*beta\"')")
        self.assertTrue(self.browser.value("document.querySelector('#study-facts').textContent").startswith("2 points"))

    def test_a_large_store_is_shown_in_parts(self):
        study = SLOW.replace("0.1:3:0.02", "log:0.1:3:3000").replace("layers = 1", "layers = 1, stages = 1")
        (self.folder / "watched.toml").write_text(study, encoding="utf-8")
        sweep = start("sweep", "watched.toml", "--threads", "2", cwd=self.folder)
        self.addCleanup(sweep.communicate)
        self.addCleanup(sweep.kill)
        self.open("#view=watch")
        self.browser.wait_for("document.querySelector('#watch .chips .ok')")
        order = "[aria-label='Points of watched']"
        self.browser.wait_for(f"document.querySelector({json.dumps(order)})")
        self.assertRegex(self.browser.value(f"document.querySelector({json.dumps(order)}).parentElement.textContent"), r"every \d+th of 3000 points")
        self.browser.type_into(order, "pages")
        self.browser.wait_for(f"document.querySelector({json.dumps(order)}).parentElement.textContent.includes('1 to ')")
        self.browser.click("[aria-label='Next points']")
        self.browser.wait_for(f"document.querySelector({json.dumps(order)}).parentElement.textContent.includes('1001 to 2000 of')")
        self.assertFalse(self.browser.value("document.querySelector(\"[aria-label='Previous points']\").disabled"))

    def test_figures_open_their_runs(self):
        self.open("#view=gallery")
        self.browser.wait_for("document.querySelectorAll('.gallery .card').length > 5")
        self.browser.value("[...document.querySelectorAll('.gallery button')].find(one => one.textContent === 'curve (aim curve)').click()")
        self.browser.wait_for(verb_is("aim curve"))
        self.browser.wait_for("document.querySelector('#study-text').textContent.includes('rho = [')")

    def test_it_fits_a_phone(self):
        self.browser.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
        for view in ("", "#view=gallery"):
            self.open(view)
            self.browser.wait_for("document.querySelector('#view .card')")
            self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), 400)


if __name__ == "__main__":
    unittest.main()
