"""The user's files."""

from __future__ import annotations

from .mutation import FLORC, add

VIEW = "tests/test_replay_view.py"
add(
    "user's files: a replay writes to them",
    FLORC + "replay/files/view.py",
    "        return self.upper + path\n",
    "        return path\n",
    "tests/test_user_files.py::test_a_killed_replay_changes_nothing",
)
add(
    "user's files: what the run made is there",
    FLORC + "replay/files/view.py",
    "            self._enter(path, Entry(GONE))\n",
    "            pass\n",
    VIEW,
)
add(
    "user's files: what was overwritten is not kept",
    FLORC + "record/files_noted.py",
    "            found.update(self._keep(real, keep))\n",
    "            pass\n",
    VIEW,
)
add(
    "user's files: what was appended to is whole",
    FLORC + "runs/found_files.py",
    "        return self._cut(whole, beside)\n",
    "        return whole\n",
    VIEW,
)
add(
    "user's files: skipped iterations wrote nothing",
    FLORC + "replay/files/view.py",
    "        return any(self._skipped.holds(place) for place in noted.places)\n",
    "        return False\n",
    VIEW + "::test_iterations_that_are_left_out_have_written_their_files",
)
add(
    "user's files: lists hold what is new",
    FLORC + "replay/files/view.py",
    "            listed = [name for name in listed if name in self._listed[path]]\n",
    "            pass\n",
    VIEW,
)
add(
    "user's files: what is lost is vouched for",
    FLORC + "replay/files/view.py",
    "        elif found.kind == LOST:\n",
    "        elif False:\n",
    VIEW + "::test_content_that_was_not_kept_is_not_vouched_for",
)
add(
    "user's files: native writers go unseen",
    FLORC + "replay/files/user_files.py",
    "        native_writers.adapt(self._functions.opens.native, readers=True)\n",
    "        pass\n",
    "tests/test_user_files.py::test_what_torch_saves",
)
add(
    "user's files: forked children have their own",
    FLORC + "replay/files/view.py",
    "        self._is_shared = True\n",
    "        self._is_shared = False\n",
    "tests/test_view.py",
)
add(
    "user's files: what added statements write goes to the view",
    FLORC + "replay/files/opens.py",
    "        if not self._functions.is_added():\n            return None\n",
    "        return None\n",
    "tests/test_user_files.py::test_what_added_statements_write_stays",
)
add(
    "user's files: a failing note is an error",
    FLORC + "record/files_noted.py",
    "            if not _is_own(error.__traceback__):",
    "            if True:",
    VIEW + "::test_a_note_that_fails_is_no_error",
)
add(
    "user's files: frames of the view are seen",
    "pyruntime/src/process/redirect.rs",
    ".map_err(|error| self.without_own_frames(py, error))",
    "",
    "tests/test_view.py",
)
