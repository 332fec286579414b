"""Ranks, children, iterators, notebooks, trainers."""

from __future__ import annotations

from .mutation import CHECK, FLORC, add

RANKS = "tests/replay/test_ranks.py::"
add(
    "ranks: each restores what it kept itself",
    FLORC + "runs/joint.py",
    "        if all(key in history.checkpoints or block not in known for history, known in zip(together, begun))\n",
    "        if any(key in history.checkpoints or block not in known for history, known in zip(together, begun))\n",
    RANKS + "test_a_rank_that_keeps_less_decides_for_all",
)
add(
    "ranks: the reducer keeps its first buckets",
    FLORC + "state/ddp.py",
    "        if node[7] and has_first:\n",
    "        if False:\n",
    RANKS + "test_ddp_adds_up_in_the_buckets_of_the_record",
)
add(
    "ranks: each has a view of its own",
    FLORC + "replay/process.py",
    "            attempt.task.files if isinstance(attempt.task, RankTask) else None,\n",
    "            None,\n",
    RANKS + "test_a_file_that_one_rank_writes_is_read_by_the_others",
)
add(
    "ranks: one that was killed ends the record for itself only",
    FLORC + "runs/journal.py",
    "        return any(history._is_beyond(path, reached) for history in self.together)\n",
    "        return self._is_beyond(path, reached)\n",
    RANKS + "test_what_a_rank_did_after_another_was_killed_is_not_answered",
)
add(
    "children: a child that ends starts the replay again",
    FLORC + "replay/process.py",
    "        if os.getpid() != self._process:  # a child that the script forked, and that came to the end of the script\n",
    "        if False:\n",
    "tests/test_children.py::test_a_child_that_comes_to_the_end_of_the_script_is_no_replay",
)
add(
    "iterators: one begins anew",
    FLORC + "state/positions.py",
    "        r.last(lambda: _move(made, at))\n",
    "        r.last(lambda: _move(made, 0))\n",
    "tests/state/test_iterators.py::test_an_iterator_of_pythons_own_is_moved_in_place",
)
add(
    "iterators: a sampler draws nothing at its end",
    FLORC + "state/positions.py",
    "    if generator is not None:  # whether or not anything is left to be drawn\n",
    "    if False:\n",
    "tests/state/test_iterators.py::test_samplers_go_on_with_what_they_drew",
)
add(
    "iterators: a generator may call what it likes",
    FLORC + "state/suspended.py",
    "return _CALLED.issuperset(code.co_names) and ",
    "return ",
    "tests/replay/test_steps.py::test_an_iterator_that_cannot_be_restored_is_missed_only_where_it_is_used",
)
NOTEBOOKS = "tests/replay/test_notebooks.py::"
SPAWNED = "tests/replay/test_spawned.py::"
add(
    "notebooks: every expression of a cell is shown",
    "compiler/src/project/cell.rs",
    "    (!behind.trim_start().starts_with(';')).then_some(last.range)\n",
    "    behind.is_ascii().then_some(last.range)\n",
    NOTEBOOKS + "test_what_a_cell_ends_with_is_shown",
)
add(
    "notebooks: a value that is not shown any more is missed",
    FLORC + "runs/versions.py",
    "        return self._no_longer_shown | {\n",
    "        return {\n",
    NOTEBOOKS + "test_a_line_below_what_a_cell_ended_with_is_an_answer",
)
add(
    "notebooks: lines are those of the program",
    FLORC + "support/console.py",
    "    return number, line - heads[number - 1]\n",
    "    return number, line\n",
    NOTEBOOKS + "test_a_probe_in_a_cell_is_answered",
)
add(
    "notebooks: they run where the command was typed",
    FLORC + "project/script.py",
    "        os.chdir(os.path.dirname(script.path))\n",
    "        pass\n",
    NOTEBOOKS + "test_a_probe_in_a_cell_is_answered",
)
add(
    "spawned: what shares something with the script is replayed all the same",
    FLORC + "process/spawned.py",
    "    on_payload(data if is_alone else None)\n",
    "    on_payload(data if is_alone or data else None)\n",
    SPAWNED + "test_ranks_that_share_something_with_the_script_are_flagged",
)
add(
    "spawned: calls are known by their number alone",
    FLORC + "process/spawned.py",
    "        number = self._calls[path] = self._calls.get(path, -1) + 1\n",
    "        number = self._calls[path] = 0\n        path = ''\n",
    SPAWNED + "test_each_call_has_its_own_ranks",
)
add(
    "spawned: what ranks find is no part of the answer",
    FLORC + "replay/process.py",
    "._replace(lost_seconds=self._lost_s).followed_by(self._spawned.found)\n",
    "._replace(lost_seconds=self._lost_s)\n",
    SPAWNED + "test_ranks_of_the_script_are_restored_and_answer",
)
add(
    "speeds: a slow restore is taken again and again",
    FLORC + "replay/session/speeds.py",
    "        return WHY\n",
    "        return None\n",
    "tests/replay/test_speeds.py::test_a_deque_of_many_small_tensors_is_run_again_when_that_is_faster",
)
add(
    "counters: one that is further here is said to be where it was",
    FLORC + "state/counting.py",
    "    return steps if rest == 0 and 0 <= steps <= _MOST else None\n",
    "    return max(0, steps) if rest == 0 else None\n",
    "tests/state/test_iterators.py::test_a_counter_is_moved_forward_in_place",
)
add(
    "tools: the project of pytest is its own folder",
    FLORC + "project/territory.py",
    "            root = _root_of(here) if root == beside and here not in (_home(), os.path.sep) else root\n",
    "            root = beside\n",
    "tests/test_tools.py::test_pytest_is_recorded_and_asked",
)
add(
    "spawned: ranks that are not started again are not missed",
    FLORC + "replay/process.py",
    "            replay.comparer.differences.extend(self._spawned.missing())\n",
    "            self._spawned.missing()\n",
    SPAWNED + "test_ranks_that_are_not_started_again_are_missed",
)
LAPSE = "tests/replay/test_steps.py::"
add(
    "lapsed: an iterator that somebody else holds lapses, too",
    FLORC + "state/lapsed.py",
    "    return sys.getrefcount(obj) - _OWN <= of_script + of_florc\n",
    "    return True\n",
    LAPSE + "test_what_somebody_else_holds_does_not_lapse",
)
add(
    "lapsed: asking its class for something is not noticed",
    FLORC + "state/lapsed.py",
    "    def __getattribute__(cls, name: str) -> Any:\n        _of_class(name)\n",
    "    def __getattribute__(cls, name: str) -> Any:\n        return type.__getattribute__(cls, name)\n",
    LAPSE + "test_each_use_of_it_is_noticed",
)
add(
    "lapsed: what is foreseen to be used is restored all the same",
    FLORC + "runs/versions.py",
    "        return _MOVES if why is None and self.lapsed.is_missed(key) else why\n",
    "        return why\n",
    LAPSE + "test_an_iterator_that_cannot_be_restored_is_missed_only_where_it_is_used",
)
add(
    "spawned: calls that ran without florc are not told of",
    FLORC + "replay/parallel/spawned.py",
    '        return [f"{name}: {why}" for name in dict.fromkeys(self._plain)]\n',
    "        return []\n",
    SPAWNED + "test_answers_of_ranks_that_failed_are_missed",
)
add(
    "ranks: attempts before a restart are not told of",
    FLORC + "process/launcher.py",
    "    return int(times) if times.isdecimal() else 0\n",
    "    return 0\n",
    "tests/replay/test_ranks.py::test_attempts_before_a_restart_are_told_of",
)
add(
    "record: a file that the script's imports lead to later is not kept",
    FLORC + "record/session.py",
    '        if self.project.text(file) != text or file not in self.run.info.get("sources", ()):\n',
    "        if self.project.text(file) != text:\n",
    SPAWNED + "test_a_statement_in_another_module_that_only_ranks_run_is_answered",
)
add(
    "writers: the file in which ranks meet is written past the replay",
    FLORC + "process/native_writers.py",
    '    Writer("torch.distributed.rendezvous", "FileStore.__init__", 1, "file_name"),\n',
    "",
    SPAWNED + "test_the_file_in_which_ranks_meet_stays_as_it_is",
)
add(
    "survey: methods with two underscores hold nothing",
    "pyruntime/src/survey/parts.rs",
    "&& !is_callable_of_class(&part);",
    ";",
    "tests/test_hidden.py::test_what_a_call_hides_is_right",
)
add(
    "unforeseen: a cache is kept whole",
    FLORC + "survey/survey.py",
    "        return (module_of(kind), name_of(kind)) in _KEPT_WHOLE_OF_LIBRARIES or classes.is_of_library(kind)\n",
    "        return True\n",
    "tests/replay/test_small_scripts.py::test_replay_prints_what_the_added_statements_would_have",
)
add(
    "unforeseen: what takes another object is not bound",
    FLORC + "replay/session/restore.py",
    "            if name in values and values[name] is not there.get(name):\n",
    "            if False:\n",
    "tests/test_unforeseen.py::test_what_is_seen_to_change_is_restored",
)
add(
    "lapsed: what an iterator's end does is not missed",
    FLORC + "record/checkpoint.py",
    '        if why:\n            raise NotKept(f"an iterator',
    '        if False:\n            raise NotKept(f"an iterator',
    LAPSE + "test_what_dropping_one_does_is_done",
)
add(
    "lapsed: the end of a generator is never noticed",
    FLORC + "state/ends.py",
    "        if at is None:\n            return True\n",
    "        if at is None:\n            return False\n",
    "tests/state/test_ends.py",
)
add(
    "plan: what next() runs writes to no file",
    "compiler/src/effects/filter.rs",
    "writes |= effect.assumed || matches!(effect.kind, EffectKind::Writes | EffectKind::Consume);",
    "writes |= effect.kind == EffectKind::Writes;",
    "tests/test_hidden.py::test_a_file_that_a_hidden_call_writes_to_is_no_exact_answer",
)
add(
    "spawned: the script finds what its ranks left, not what they wrote",
    FLORC + "replay/files/view.py",
    "                where = tree + path if is_really_there(tree + path) else path\n",
    "                where = path\n",
    SPAWNED + "test_each_version_of_a_file_that_ranks_overwrite_is_found",
)
add(
    "proof: the block is inside another one that is restored",
    FLORC + "replay/session/proof.py",
    '    return key == wanted or bool(wanted) and wanted.startswith(f"{key}/")\n',
    "    return key == wanted\n",
    SPAWNED + "test_ranks_that_print_nothing_are_compared_all_the_same",
)
add(
    "project: a package that was installed from its folder is a library",
    FLORC + "project/installed.py",
    "            if any(words in url for words in _OWN) is is_own:\n",
    "            if not is_own:\n",
    "tests/test_tools.py::test_a_package_that_is_installed_from_its_folder_is_recorded_and_asked",
)
add(
    "restore: attributes that may be missing are not bound",
    FLORC + "replay/session/restore.py",
    "            _bind_attribute(frame, name, values)\n",
    "            pass\n",
    "tests/replay/test_small_scripts.py::test_replay_prints_what_the_added_statements_would_have",
)
add(
    "check: a state that cannot be compared counts as equal",
    FLORC + "replay/session/compare.py",
    '            self.uncompared.append(f"{checkpoint.key} is not compared with its checkpoint: {error}")\n',
    "            self.verified += 1\n",
    CHECK + "test_a_state_that_cannot_be_compared_is_no_difference",
)
add(
    "diff: the first checkpoint of both decides",
    FLORC + "answers/compared.py",
    '        found["equal_up_to"] = _named_at(a, key)\n',
    '        return {**found, "generators": generators}\n',
    "tests/test_runs_compared.py::test_two_runs_part_where_their_plain_runs_do",
)
add(
    "settings: a replay has the present value",
    FLORC + "replay/session/session.py",
    "        return recorded[0] if len(recorded) == 1 and type(recorded[0]) is type(value) else value\n",
    "        return value\n",
    "tests/test_runs_compared.py::test_settings_are_those_of_the_command_line_and_kept",
)
add(
    "progress: the line stays where an answer is printed",
    FLORC + "process/divert.py",
    "        if self.depth == 1:\n            clear_line()\n",
    "        if self.depth == 1:\n",
    "tests/test_terminal.py::test_a_replay_shows_where_it_is_and_leaves_nothing_of_that",
)
add(
    "pacer: looks at nested executions take what they say that they computed",
    FLORC + "record/pacer.py",
    "        return passed, min(max(seconds, 0.0), MOST_PASSED_S)\n",
    "        return passed, 0.0\n",
    "tests/test_pacer.py::test_looks_in_vain_stay_within_the_overhead_where_executions_are_nested",
)
add(
    "answers: what was written in runs that were not asked for counts, too",
    FLORC + "replay/session/capture.py",
    "                tap.answers()  # of runs that were not asked for\n",
    "                pass\n",
    "tests/test_logged.py::test_answers_on_standard_error_are_those_of_a_plain_run",
)
add(
    "answers: a worker's standard error stays in its file",
    FLORC + "replay/parallel/workers.py",
    "            print_file(worker.out, errors_of(worker.task.result))\n",
    "            print_file(worker.out, os.devnull)\n",
    "tests/test_parallel_replay.py::test_what_goes_to_standard_error_comes_from_all_workers_in_order",
)
add(
    "imports: a module that was missing once is never found among the user's",
    FLORC + "project/territory.py",
    "        return super().find_spec(fullname, own) is not None\n",
    "        return False\n",
    "tests/test_tools.py::test_a_module_that_was_missing_when_it_was_asked_for_is_followed_later",
)
add(
    "children: what they changed on disk is not noted",
    FLORC + "record/children.py",
    '                    yield line.decode(errors="replace")\n',
    "                    pass\n",
    "tests/replay/test_files_of_children.py::test_a_replay_finds_what_children_found",
)
add(
    "workers that live on: their passes are not noted",
    FLORC + "adapters/persistent.py",
    "    return [name(loader) for loader, last in found if loader is not None and last >= when]\n",
    "    return []\n",
    "tests/replay/test_persistent_workers.py::test_a_worker_that_lives_on_is_where_it_was",
)
add(
    "places: what a closure holds is not bound again",
    FLORC + "plan/of_functions.py",
    "            _cell(function, key).cell_contents = value\n",
    "            pass\n",
    "tests/replay/test_steps.py::test_iterators_go_on_where_they_were",
)
