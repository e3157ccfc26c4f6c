"""Ctrl-C and the time limit end a long run soon, with what there is."""

import os
import pty
import signal
import subprocess
import time
import unittest

from onset_command import COMMAND, LONG, SOON, onset, one_object, start



class Stop(unittest.TestCase):
    def stopped(self, *signals):
        process = start(*LONG, "--format", "json")
        time.sleep(0.7)
        self.assertIsNone(process.poll(), "the long run ended by itself")
        asked = time.monotonic()
        for sent in signals:
            process.send_signal(sent)
            time.sleep(0.01)
        out, _ = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - asked, SOON)
        return process.returncode, one_object(out)

    def test_an_interrupt_ends_the_run_with_a_whole_object(self):
        code, result = self.stopped(signal.SIGINT)
        self.assertEqual((code, result["status"]), (130, "interrupted"))
        self.assertIsInstance(result["rows"], list)
        self.assertTrue(result["reason"])

    def test_a_request_to_terminate_does_the_same(self):
        code, result = self.stopped(signal.SIGTERM)
        self.assertEqual((code, result["status"]), (130, "interrupted"))

    def test_a_closed_terminal_does_the_same(self):
        code, result = self.stopped(signal.SIGHUP, signal.SIGHUP)  # from the system and the shell
        self.assertEqual((code, result["status"]), (130, "interrupted"))

    def test_a_closed_terminal_is_ignored_when_it_is_to_be(self):
        process = start(*LONG, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(0.7)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.7)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)

    def test_the_time_limit_ends_the_run_and_says_so(self):
        began = time.monotonic()
        done = onset(*LONG, "--format", "json", "--max-seconds", "1")
        self.assertLess(time.monotonic() - began, 1.0 + SOON)
        result = one_object(done.stdout)
        self.assertEqual((done.returncode, result["status"]), (3, "interrupted"))
        self.assertIn("--max-seconds", result["reason"])

    def test_nothing_but_messages_goes_to_stderr_without_a_terminal(self):
        done = onset(*LONG, "--max-seconds", "1", "--format", "csv")
        for line in done.stderr.splitlines():
            self.assertRegex(line, "^onset: ")
        self.assertRegex(done.stderr.splitlines()[-1], "^onset: interrupted: ")

    def test_a_quiet_run_says_nothing_on_stderr(self):
        done = onset(*LONG, "--max-seconds", "0.5", "--format", "json", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (3, ""))


class Terminal(unittest.TestCase):
    def shown(self, *arguments):
        """What a terminal on stderr gets to see."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        text = b""
        try:
            while chunk := os.read(ours, 4096):
                text += chunk
        except OSError:  # how a pty says that nobody writes any more
            pass
        process.wait(timeout=30)
        os.close(ours)
        return text.decode()

    def test_a_quiet_run_shows_no_bar(self):
        self.assertEqual(self.shown(*LONG, "--max-seconds", "1", "--quiet"), "")

    def test_a_bar_is_wiped_when_the_run_ends(self):
        shown = self.shown(*LONG, "--max-seconds", "1")
        bar = shown.rpartition("\n")[2]  # after what is said before the run
        if bar:  # a verb may have nothing to report within a second
            self.assertTrue(bar.endswith("\r\x1b[K"), repr(bar[-40:]))


if __name__ == "__main__":
    unittest.main()
