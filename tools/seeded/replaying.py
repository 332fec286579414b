"""Replays and added statements."""

from __future__ import annotations

from .mutation import CHECK, FLORC, FORK, SMALL, STORE, add

JUMPS = "tests/replay/test_jumps.py::test_hard_cases"
MIDDLE = "tests/test_boundaries.py::"
LATER = "tests/replay/test_deferred_state.py::"

add(
    "restore rebinds the memory of tensors",
    FLORC + "state/tensors.py",
    "                put(r, node, obj.detach(), is_apart=index not in r.shared, owner=obj)\n",
    "                obj.data = fresh(r, node, index)\n",
    "tests/state/test_tensors.py::test_identity_survives_shared_memory",
)
add(
    "restore makes new tensors",
    FLORC + "state/tensors.py",
    "        match_attributes(m, node[9], live.__dict__)\n        return True\n",
    "        match_attributes(m, node[9], live.__dict__)\n        return False\n",
    "tests/state/test_tensors.py::test_identity_survives_shared_memory",
)
add(
    "an owner of the memory of a tensor that waits is overlooked",
    FLORC + "state/deferred.py",
    "    held = sys.getrefcount(storage), weakref.getweakrefcount(storage)\n",
    "    held = 0, 0\n",
    LATER + "test_an_answer_is_what_a_plain_run_says[storage_alias]",
)
add(
    "a weak reference to a tensor that waits is overlooked",
    FLORC + "state/deferred.py",
    "    if weakref.getweakrefcount(tensor) or ",
    "    if ",
    LATER + "test_an_answer_is_what_a_plain_run_says[weak_alias]",
)
add(
    "another way to the state of an optimizer is overlooked",
    FLORC + "state/deferred.py",
    "    return _counts(attributes, of_parameter, key) == _counts(new, 0, 0)\n",
    "    return _counts(attributes, of_parameter, key)[2] == _counts(new, 0, 0)[2]\n",
    LATER + "test_an_answer_is_what_a_plain_run_says[default_alias]",
)
add(
    "another way to the attributes of an optimizer is overlooked",
    FLORC + "state/deferred.py",
    "if not self.guard.watch(optimizer) or not self._is_own(optimizer):",
    "if not self.guard.watch(optimizer):",
    LATER + "test_an_answer_is_what_a_plain_run_says[default_vars]",
)
add(
    "a tensor waits where the collector shows it",
    FLORC + "runs/versions.py",
    'r"\\b(?:gc|ctypes|',
    'r"\\b(?:ctypes|',
    LATER + "test_an_answer_is_what_a_plain_run_says[gc]",
)
add(
    "nobody notices who asks an optimizer for its attributes",
    FLORC + "state/guard.py",
    '        self._names["__dict__"] = _Attributes(self, self._own)\n',
    "",
    LATER + "test_an_answer_is_what_a_plain_run_says[vars]",
)
add(
    "a large chunk is put in place unchecked",
    STORE + "fill.rs",
    "        if hashes.get(&number) != Some(&one.hash) {\n            alone",
    "        if !hashes.contains_key(&number) {\n            alone",
    LATER + "test_damage_in_what_is_needed_is_found",
)
add(
    "generators of random numbers are not restored",
    FLORC + "state/restore.py",
    "        generators.set_globals(self, self.document[RANDOM])\n",
    "",
    "tests/state/test_arrays.py::test_global_generators",
)
add(
    "the deferred check compares no lines",
    FLORC + "replay/check.py",
    "in _native.diff_lines(ours, theirs):",
    "in ():",
    CHECK + "test_a_line_that_differs_is_told",
)
add(
    "the deferred check compares no states",
    FLORC + "replay/session/compare.py",
    "if hashes == checkpoint.chunks:",
    "if hashes:",
    CHECK + "test_a_state_that_differs_is_told",
)
add(
    "a jump takes one item too few",
    FLORC + "replay/session/session.py",
    "after(index, iterable, iterator)",
    "after(index - 1, iterable, iterator)",
    JUMPS,
)
add(
    "a jump leaves out the code that was changed",
    FLORC + "runs/versions.py",
    """        if self.has_changed:
            return "code outside""",
    """        if False:
            return "code outside""",
    MIDDLE + "test_a_changed_statement_is_not_jumped_over",
)
add(
    "a name that is dead at the start of an iteration keeps its object apart",
    FLORC + "replay/session/restore.py",
    "        lost |= set(loop.binds).difference(planned)\n",
    "",
    JUMPS,
)
add(
    "the name of an object is lost when one of its attributes is bound",
    FLORC + "plan/places.py",
    'taken = {place.name for place in held if "." not in place.name and not place.iterated}',
    'taken = {place.name.partition(".")[0] for place in held}',
    SMALL + "[other_name_of_an_object_bound_anew_in_each_epoch]",
)
add(
    "what is iterated over is no object that a block may refer to",
    FLORC + "plan/places.py",
    " and not place.iterated}",
    "}",
    SMALL + "[stores_what_it_iterates_over]",
)
add(
    "a while loop that runs again is taken for the one before",
    "pyruntime/src/nest/whiles.rs",
    "    let enters = || Ok(if is_followed() { with_nest(|nest| Some(nest.enter_loop(id))) } else { None });\n",
    "    let enters = || Ok(if is_followed() { with_nest(|nest| Some(nest.tick(id).0)) } else { None });\n",
    "tests/replay/test_jumps.py::test_a_while_loop_around_blocks_that_runs_again_is_another_one",
)

add(
    "a loop that was left runs on",
    "pyruntime/src/nest/levels.rs",
    "        if self.keeps_left { None } else { self.leave_loop(running, by_error) }\n",
    "        let _ = (running, by_error, self.keeps_left);\n        None\n",
    "tests/test_loop_ends.py::test_what_stands_behind_a_loop_is_not_in_it[break]",
)

add(
    "fork: the child binds names of the script",
    "pyruntime/src/python/forking.rs",
    "Some(&names), None)",
    "None, None)",
    FORK + "test_a_large_plain_state_replays_exactly[fork]",
)
add(
    "added statements: draws are not seen",
    FLORC + "replay/session/purity.py",
    "if state != found.get(name, state)]",
    "if False]",
    SMALL + "[draws]",
)
add(
    "added statements: nothing follows what they left",
    FLORC + "replay/session/purity.py",
    "        self.disturbances += self._pending\n",
    "",
    SMALL + "[evaluates_and_stays_so]",
)
add(
    "added statements: those side by side are looked at one by one",
    FLORC + "replay/session/purity.py",
    "and line > self._last",
    "and False",
    SMALL + "[evaluates_in_between]",
)
add(
    "unforeseen: iterators stand still",
    FLORC + "survey/readers.py",
    '    parts: Parts = {"(position)": _position(obj)}\n',
    "    parts: Parts = {}\n",
    SMALL + "[iterator_in_a_class_attribute]",
)

add(
    "added loops decide how recorded ones are replayed",
    "compiler/src/probes/compare.rs",
    "after.plans_as(options, &recorded)",
    "after.plans(options)",
    "tests/test_window.py::test_an_added_loop_changes_nothing_about_the_loop_around_it",
)
add(
    "names of lambdas are asked for",
    "compiler/src/effects/filter.rs",
    "self.extractor.project.scopes.text(self.entry.scope).mentions(name)",
    "!name.is_empty()",
    SMALL + "[names_of_lambdas_and_comprehensions]",
)
add(
    "loops of another length pass",
    FLORC + "replay/check.py",
    "        anomalies += _other_lengths(replay)\n",
    "        pass\n",
    "tests/test_user_files.py::test_data_that_is_shorter_now_is_told",
)
add(
    "sets: elements are taken in as they come",
    FLORC + "state/sets.py",
    "    keys = [*removed, *order]\n",
    "    keys = [*removed, *items]\n",
    "tests/state/test_sets.py",
)
add(
    "sets: removed elements leave no trace",
    FLORC + "state/sets.py",
    "    removed = [_Removed(slot + wanted.table) for slot in wanted.removed]\n",
    "    removed: list = []\n",
    "tests/state/test_sets.py",
)
