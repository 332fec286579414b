"""Processes, staging and recording."""

from __future__ import annotations

from .mutation import FLORC, FORK, MATERIALIZE, RECORDER_FAULTS, SMALL, add

RECORDER = "tests/test_recorder.py::"
STAGING = "tests/test_device_staging.py::"

add(
    "SIGCHLD is ignored",
    MATERIALIZE + "child/process.rs",
    "    let pid = clone_silently()?;\n    if pid == 0 {\n        let outcome",
    "    // SAFETY: a seeded bug\n    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };\n"
    "    let pid = clone_silently()?;\n    if pid == 0 {\n        let outcome",
    RECORDER + "test_children_of_the_script_are_its_own",
)
add(
    "a fork of the script is not inert",
    MATERIALIZE + "recorder.rs",
    "self.abandoned.load(Ordering::Acquire) || pid() != self.owner",
    "self.abandoned.load(Ordering::Acquire)",
    RECORDER_FAULTS + "test_a_fork_of_the_script_is_inert",
)
add(
    "a child takes memory that processes share",
    FLORC + "record/forking.py",
    "if _is_shared(found.encoded.encoder.spans()):",
    "if False:",
    FORK + "test_memory_that_processes_share_is_not_left_to_a_child",
)
add(
    "a child lets torch copy",
    FLORC + "record/materializer.py",
    "may_copy=False), is_decided\n",
    "may_copy=True), is_decided\n",
    FORK + "test_torch_threads_in_the_parent_do_not_stop_the_child",
)

add(
    "staging keeps the address of CPU tensors",
    FLORC + "staging/staging.py",
    "if type(leaf) is not bytes:",
    "if type(leaf) is DeviceLeaf:",
    STAGING + "test_several_on_their_way_arrive_in_order_and_whole",
)
add(
    "a device is drained without waiting for the compute stream",
    FLORC + "staging/devices.py",
    "            self._side.wait_event(ready)\n",
    "",
    STAGING + "test_what_cuda_is_asked_for_and_in_which_order",
)
add(
    "a device without memory is not held",
    FLORC + "staging/staging.py",
    "events.append(device.drain(copies, hold=True))",
    "events.append(device.drain(copies, hold=False))",
    STAGING + "test_what_is_overwritten_after_end_is_kept_as_it_was",
)
add(
    "buffers are given back before the device is done",
    FLORC + "staging/staging.py",
    "        self._copying.append(Transfer(",
    "        self.pool.give(buffers)\n        self._copying.append(Transfer(",
    STAGING + "test_several_on_their_way_arrive_in_order_and_whole",
)

add(
    "lines are shifted",
    FLORC + "project/tree_positions.py",
    "node.lineno, node.col_offset = line, column",
    "node.lineno, node.col_offset = line + 1, column",
    "tests/test_positions.py::test_every_fixture_keeps_its_tree",
)
add(
    "lines are shifted in what runs",
    "pyruntime/src/project/line_table.rs",
    "= (at(line, start)?, at(end_line, end)?);",
    "= (at(line + 1, start)?, at(end_line + 1, end)?);",
    "tests/test_faithful.py::test_recorded_is_plain[raises half-way]",
)
add(
    "an altered tree is not noticed",
    FLORC + "project/tree_positions.py",
    "        raise Altered\n",
    "        pass\n",
    "tests/test_positions.py::test_an_altered_tree_is_noticed",
)
add(
    "the survey is switched off",
    FLORC + "record/blocks.py",
    "survey = self._survey(block, frame)",
    "survey = None",
    SMALL + "[functools_partial]",
    SMALL + "[mutable_default]",
    SMALL + "[callbacks_in_dict]",
)
add(
    "generators of random numbers are left out",
    FLORC + "state/encode.py",
    "random_state = generators.capture(encoder)",
    "random_state = []",
    "tests/state/test_arrays.py::test_global_generators",
)
add(
    "torch's generator is left out",
    FLORC + "state/generators.py",
    '        found.append(["torch", encode_torch(enc, torch.default_generator)])\n',
    "        pass\n",
    "tests/state/test_arrays.py::test_global_generators",
)
add(
    "captured graphs: what warmed the device up is restored",
    FLORC + "record/captured.py",
    "            self.count += 1\n",
    "            pass\n",
    "tests/test_captured.py",
)
add(
    "compiled globals: they are state",
    FLORC + "survey/scopes.py",
    "            names = _without_compiled(names)\n",
    "",
    "tests/replay/test_small_scripts.py::test_replay_prints_what_the_added_statements_would_have[model_compiled]",
)
add(
    "compiled optimizers: what the compiler made owns parameters",
    FLORC + "state/owners.py",
    " and not _is_compiled(attributes):\n",
    ":\n",
    "tests/replay/test_small_scripts.py::test_replay_prints_what_the_added_statements_would_have[optimizer_compiled]",
)
add(
    "memory: what an iteration began with is said to be held as it ended",
    FLORC + "runs/memory.py",
    "            index -= 1\n",
    "            pass\n",
    "tests/test_memory.py::test_what_is_measured_belongs_to_the_iteration_before",
)
add(
    "memory: every iteration is looked at",
    FLORC + "record/memory.py",
    "            if now < self._due and not",
    "            if not",
    "tests/test_memory.py::test_looks_are_apart",
)
