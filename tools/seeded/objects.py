"""What others hold, settings, hooks, gradients out of sight, generators."""

from __future__ import annotations

from .mutation import FLORC, SMALL, add

add(
    "holders: what somebody else holds is written to",
    FLORC + "state/alone.py",
    "    candidates = [number for number in alone if",
    "    candidates = [number for number in alone[:0] if",
    "tests/state/test_holders.py",
    SMALL + "[replaced_object_that_others_hold]",
)
add(
    "holders: memory that somebody else sees is written to",
    FLORC + "state/alone.py",
    "        if count(live.untyped_storage()._cdata) > _OF_MEMORY:\n",
    "        if False:\n",
    "tests/state/test_holders.py",
)
add(
    "holders: the memory of the last checkpoint is taken for that of the beginning",
    "pyruntime/src/encode/classes.rs",
    "        known.1 <= since\n",
    "        known.1 < now\n",
    "tests/state/test_holders.py::test_memory_counts_as_lone_unless_the_block_found_it",
)
add(
    "holders: names of added statements count",
    FLORC + "state/alone.py",
    "        if others and holders.added:\n",
    "        if False:\n",
    "tests/state/test_holders.py::test_names_of_added_statements_do_not_count",
)
add(
    "holders: what added statements name is taken to lie outside the state",
    FLORC + "replay/session/restore.py",
    "        lost |= added\n",
    "",
    SMALL + "[torch_holds_weights]",
)
add(
    "settings: no change is seen",
    FLORC + "survey/settings.py",
    "        if name in before and before[name] != value:\n",
    "        if False:\n",
    SMALL + "[setting_that_no_compiler_sees]",
)
add(
    "settings: what a file mentions is not read",
    FLORC + "survey/settings.py",
    "            _open.add(name)\n",
    "            pass\n",
    "tests/test_settings.py::test_what_libraries_change_is_read_where_a_file_mentions_it",
)
add(
    "hooks: others are not noticed",
    FLORC + "state/match.py",
    "        if live is not None and hooks.of_live(node, live) != recorded:\n",
    "        if False:\n",
    "tests/state/test_modules.py::test_hooks_stay",
)
add(
    "gradients: a closure computes none",
    "compiler/src/plan/gradients.rs",
    "        let mut found = is_function(scope)\n",
    "        let mut found = false && is_function(scope)\n",
    SMALL + "[torch_gradients_in_a_closure]",
)
add(
    "generators: children are not counted",
    FLORC + "state/generators.py",
    "*([] if seeds is None else [_seeds_text(seeds)])",
    "*[]",
    SMALL + "[numpy_spawned]",
)
add(
    "generators: a kept normal number is overlooked",
    FLORC + "adapters/twisters.py",
    "    return OfNumpy(found[:_BYTES], int.from_bytes(found[_BYTES:], sys.byteorder), has_gauss, gauss)\n",
    "    return OfNumpy(found[:_BYTES], int.from_bytes(found[_BYTES:], sys.byteorder), 0, gauss)\n",
    "tests/test_twisters.py::test_of_numpy",
)
add(
    "lambdas: what they print is the script's",
    "compiler/src/emit/lambdas.rs",
    "            if looks(body) == (true, false) && !is_written(body.range.start) {\n",
    "            if false && !is_written(body.range.start) {\n",
    SMALL + "[torch_hook_of_a_lambda]",
)
add(
    "registered: what a function prints for an added statement is the script's",
    "pyruntime/python/florc/process/output.py",
    "        return registered(name, body())\n",
    "        return body()\n",
    "tests/test_registered_hooks.py::test_its_lines_are_answers[both]",
)
add(
    "elsewhere: processes that are started anew have no answers",
    "pyruntime/python/florc/replay/parallel/elsewhere.py",
    "            if os.getpid() == self._process and self._versions.marked() and not _starts_ranks():\n",
    "            if False:\n",
    "tests/test_started_anew.py::test_they_are_those_of_a_plain_run[pool]",
)
add(
    "enlarged: what the script writes of an added statement is gone",
    "pyruntime/python/florc/replay/files/enlarged.py",
    "    return len(mine) > len(theirs) and all(word in words for word in theirs)\n",
    "    return False\n",
    "tests/test_enlarged_files.py::test_it_is_in_a_copy[summary]",
)
add(
    "marks: an added statement takes its neighbour with it",
    "compiler/src/emit/marks.rs",
    "        if let Some(next) = next.filter(|next| !is_marked(next)) {\n",
    "        if let Some(next) = next.filter(|next| false && !is_marked(next)) {\n",
    SMALL + "[shares_the_line_of_a_print]",
)
add(
    "calls: functions of the project count as a library's",
    "compiler/src/analysis.rs",
    "    is_alone && matches!(project.callee(scope, call), Callee::Library(_) | Callee::Method { .. })\n",
    "    is_alone && !matches!(project.callee(scope, call), Callee::Library(_) | Callee::Method { .. })\n",
    "tests/replay/test_trainers.py::test_answers_are_those_of_a_plain_run[sklearn_search]",
)
add(
    "handles: what is not known never changes",
    FLORC + "state/references.py",
    "    if not is_fixed(type(obj)):\n",
    "    if False:\n",
    "tests/state/test_handles.py::test_what_changed_is_put_back_or_refused",
)
add(
    "handles: what an object says is not compared",
    FLORC + "state/references.py",
    "        return is_same and (len(node) == 4 or node[4:] == told(live))\n",
    "        return is_same\n",
    "tests/state/test_handles.py::test_what_changed_is_put_back_or_refused",
)
add(
    "handles: the live booster stays",
    FLORC + "state/boosters.py",
    "        if pickled(obj) == data:\n",
    "        if True or pickled(obj) == data:\n",
    "tests/state/test_boosters.py::test_of_xgboost",
)
add(
    "pieces: a sample that is equal proves that a part is known",
    "pyruntime/src/materialize/large.rs",
    "        !self.samples.insert(sample(part)) || !self.any\n",
    "        self.samples.insert(sample(part)) && self.any\n",
    "cargo:materialize::large::tests::only_what_may_be_equal_is_hashed_first",
)
