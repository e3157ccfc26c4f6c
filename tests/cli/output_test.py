"""What a run prints and writes."""

import csv
import io
import json
import os
import tempfile
import unittest

from onset_command import QUICK, onset, one_object

KEYS = {"schema", "onset", "command", "parameters", "seed", "rows", "summary", "status", "seconds"}


def without_seconds(text):
    return [line for line in text.splitlines() if '"seconds"' not in line]


class Json(unittest.TestCase):
    def setUp(self):
        self.done = onset(*QUICK, "--format", "json")
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.object = one_object(self.done.stdout)

    def test_stdout_is_one_object_and_stderr_is_quiet(self):
        self.assertIsInstance(self.object, dict)
        self.assertEqual(self.done.stderr, "")

    def test_the_object_has_the_keys_of_the_contract(self):
        self.assertLessEqual(KEYS, set(self.object))
        self.assertLessEqual(set(self.object), KEYS | {"notes"})
        self.assertEqual(self.object["schema"], 1)
        self.assertEqual(self.object["command"], "smi thresholds")
        self.assertEqual(self.object["status"], "ok")
        self.assertEqual(self.object["seed"], 1)

    def test_all_effective_parameters_are_there(self):
        parameters = self.object["parameters"]
        self.assertEqual((parameters["layers"], parameters["tokens"]), (1, 2))
        for name in ["skip", "beta", "seed", "tol"]:
            self.assertIsNotNone(parameters[name], name)

    def test_every_estimate_has_its_error(self):
        self.assertTrue(self.object["rows"])
        for row in self.object["rows"]:
            for name in ["alpha", "jump"]:
                self.assertIn(name, row)
                self.assertEqual(row[name] is None, row[name + "_err"] is None)

    def test_threads_do_not_change_a_byte(self):
        texts = [without_seconds(onset(*QUICK, "--format", "json", "--threads", n).stdout)
                 for n in ["1", "2", "3"]]
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[0], texts[2])

    def test_the_list_is_an_object_too(self):
        rows = one_object(onset("list", "--format", "json").stdout)["rows"]
        self.assertIn("smi thresholds", [row["verb"] for row in rows])

    def test_both_ways_to_give_a_value_are_the_same(self):
        other = onset("smi", "thresholds", "--layers=1", "--tokens=2", "--format=json")
        self.assertEqual(without_seconds(other.stdout), without_seconds(self.done.stdout))


class Csv(unittest.TestCase):
    def test_the_header_names_every_column_and_its_error(self):
        done = onset(*QUICK, "--format", "csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        header, *rows = csv.reader(io.StringIO(done.stdout))
        self.assertEqual(header, ["stage", "layers", "kind", "alpha", "alpha_err", "jump",
                                  "jump_err", "leap"])
        self.assertTrue(rows)
        self.assertEqual({len(row) for row in rows}, {len(header)})

    def test_a_grid_includes_its_end_and_prints_as_typed(self):
        done = onset("smi", "curve", "--layers", "1", "--tokens", "2", "--alpha", "0.1:0.5:0.1",
                     "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([row["alpha"] for row in rows], ["0.1", "0.2", "0.3", "0.4", "0.5"])


class Text(unittest.TestCase):
    def test_the_table_has_a_header(self):
        done = onset(*QUICK)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.split()[:5], ["stage", "layers", "kind", "alpha", "jump"])


class Explain(unittest.TestCase):
    def test_explain_names_the_method_and_runs_nothing(self):
        done = onset("smi", "thresholds", "--layers", "2", "--tol", "1e-9", "--explain")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Estimated cost", done.stdout)
        self.assertNotIn("stage", done.stdout.split())

    def test_explaining_a_refused_run_exits_as_the_run_does(self):
        refused = ["ssi", "flow", "--target", "z1", "--student", "untied", "--method", "sde"]
        for words in (refused, refused + ["--explain"], refused + ["--explain", "--format", "json"]):
            self.assertEqual(onset(*words).returncode, 3, words)
        self.assertIn("Refused: the flow of an untied student", onset(*refused, "--explain").stdout)

    def test_explain_has_a_json_form(self):
        row, = one_object(onset(*QUICK, "--explain", "--format", "json").stdout)["rows"]
        self.assertEqual(set(row), {"method", "core_seconds", "memory_bytes"})

    def test_explain_still_checks_the_values(self):
        self.assertEqual(onset("smi", "thresholds", "--layers", "0", "--explain").returncode, 2)


class Folders(unittest.TestCase):
    def test_out_writes_the_rows_and_the_manifest(self):
        with tempfile.TemporaryDirectory() as top:
            folder = os.path.join(top, "new", "run")
            done = onset(*QUICK, "--out", folder, "--format", "csv")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLessEqual({"result.csv", "manifest.json"}, set(os.listdir(folder)))
            self.assertEqual([name for name in os.listdir(folder) if name.startswith(".")], [])
            with open(os.path.join(folder, "result.csv")) as file:
                self.assertEqual(file.read(), done.stdout)
            with open(os.path.join(folder, "manifest.json")) as file:
                manifest = json.load(file)
            self.assertEqual(manifest["command"], "smi thresholds")
            self.assertEqual(manifest["status"], "ok")
            self.assertEqual(manifest["parameters"]["layers"], 1)
            self.assertLessEqual({"simd", "threads"}, set(manifest["machine"]))

    def test_a_folder_that_cannot_be_made_is_named_before_the_run(self):
        done = onset("smi", "thresholds", "--layers", "2", "--tol", "1e-9", "--out",
                     "/dev/null/run", "--format", "json")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("/dev/null/run", done.stderr)


class Streams(unittest.TestCase):
    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = onset(*QUICK, "--format", "json", stdout=full)
        self.assertEqual(done.returncode, 4)
        self.assertIn("standard output", done.stderr)

    def test_a_closed_stdout_is_an_error(self):
        done = onset(*QUICK, preexec_fn=lambda: os.close(1))
        self.assertEqual(done.returncode, 4)
        self.assertIn("standard output", done.stderr)

    def test_a_reader_that_left_is_no_crash(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = onset("list", stdout=writer)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (4, ""))


if __name__ == "__main__":
    unittest.main()
