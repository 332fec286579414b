"""Values from outside, however they are asked for: each is right, or the answer is flagged. The truth is what the recorded run wrote
down itself."""

from __future__ import annotations

import itertools

import pytest
from workshop import Workshop

SOURCES = {
    "time": "time.time()",
    "nanoseconds": "time.perf_counter_ns()",
    "clock of the kernel": "time.clock_gettime(0)",
    "datetime": "datetime.datetime.now(datetime.timezone.utc).isoformat()",
    "class of datetime": "Day.now().microsecond",
    "times": "os.times()[4]",
    "urandom": "os.urandom(4).hex()",
    "uuid4": "uuid.uuid4().hex",
    "uuid1": "uuid.uuid1().hex",
    "secrets": "secrets.choice(range(10 ** 9))",
    "Random": "random.Random().random()",
    "SystemRandom": "random.SystemRandom().gauss(0, 1)",
    "default_rng": "np.random.default_rng().random()",
    "RandomState": "np.random.RandomState().rand()",
    "ssl": "ssl.RAND_bytes(4).hex()",
    "device": "os.read(DEVICE.fileno(), 4).hex()",
    "opened device": "open('/dev/urandom', 'rb').read(4).hex()",
    "proc": "open('/proc/self/stat').read()",
    "usage": "resource.getrusage(resource.RUSAGE_SELF).ru_utime",
    "collector": "gc.get_count()",
    "memory": "tracemalloc.get_traced_memory()",
    "child": "subprocess.check_output(['date', '+%N'], text=True)",
    "shell": "os.popen('date +%N').read()",
    "id": "id(Plain())",
    "hash": "hash(Plain())",
    "repr": "repr(Plain())",
    "new file": "os.stat(new()).st_mtime_ns",
    "number of a new file": "os.stat(new()).st_ino",
    "ctypes": "ctypes.CDLL(None).getrandom(BUFFER, 4, 0) and BUFFER.raw.hex()",
    "threads": "order()",
    "temporary": "tempfile.mkdtemp()",
    "process": "os.getpid()",
}
SPELLED = ("plain", "by import", "in a function", "by an alias")
PROGRAM = """
    import ctypes, datetime, gc, os, random, resource, secrets, ssl, subprocess, tempfile, threading, time, tracemalloc, uuid
    import numpy as np

    class Day(datetime.datetime): pass
    class Plain: pass
    DEVICE, BUFFER, COUNT = open("/dev/urandom", "rb", 0), ctypes.create_string_buffer(4), [0]
    def new():
        COUNT[0] += 1
        open(f"{COUNT[0]}.txt", "w").close()
        return f"{COUNT[0]}.txt"
    def order():
        found = []
        def late(k):
            time.sleep(random.SystemRandom().random() / 100)
            found.append(k)
        threads = [threading.Thread(target=late, args=(k,)) for k in range(6)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        return found
    BEFORE
    rng, w, values = np.random.default_rng(0), np.zeros(50), []
    for epoch in range(4):
        for step in range(5):
            w += rng.normal(size=50)
        values.append(ASKED)
        print("epoch", epoch, round(float(w.sum()), 6))
    open("truth", "w").write(repr(values))
    #PROBE
"""
GIVEN_BACK = list(SOURCES)[: list(SOURCES).index("id")]


def spelled(asked: str, how: str) -> tuple[str, str]:
    """What stands before the loop, and what is asked in it."""
    name, _, rest = asked.partition("(")
    module, _, attribute = name.rpartition(".")
    if how == "in a function":
        return f"def asks(): return {asked}", "asks()"
    if how == "by an alias":
        return f"alias = {name}", f"alias({rest}"
    if how == "by import" and module and module[0].islower() and module != "np.random":
        first, _, others = module.partition(".")
        return "", f"__import__({first!r}){others and '.' + others}.{attribute}({rest}"
    return "", asked


@pytest.mark.parametrize("source, how", list(itertools.product(SOURCES, SPELLED)))
def test_a_value_from_outside_is_right_or_flagged(workshop: Workshop, source: str, how: str) -> None:
    before, asked = spelled(SOURCES[source], how)
    text = PROGRAM.replace("BEFORE", "tracemalloc.start()" * (source == "memory") + "\n    " + before).replace("ASKED", asked)
    replayed, truth = workshop.written_down(text, 'print("P", values)', "--checkpoint", "every")
    is_right = replayed.out == f"P {truth}\n"
    is_exact = replayed.code == 0 and "florc: exact" in replayed.said
    assert is_right or not is_exact, replayed.out + replayed.said
    # a replay has another `open`: an alias of it is not what it was
    is_given_back = source in GIVEN_BACK and (how != "by an alias" or "device" not in source and source != "proc")
    assert is_right and is_exact or not is_given_back, replayed.out + replayed.said


IN_FUNCTIONS = {
    "own program": "subprocess.check_output([sys.executable, 'own.py'], text=True)",
    "threads": "order()",
    "uuid in a thread": "list(pool.map(lambda _: uuid.uuid4().hex, [1, 2]))",
    "pool": "processes([1, 2])",
    "number of a new file": "os.stat(new()).st_ino",
    "id": "id(Plain())",
    "asyncio": "asyncio.run(awaited())",
    "space": "os.statvfs('.').f_bfree",
}
IN_A_FUNCTION = """
    import asyncio, multiprocessing, os, random, subprocess, sys, threading, time, uuid
    from concurrent.futures import ThreadPoolExecutor
    class Plain: pass
    pool = ThreadPoolExecutor(1)
    def new():
        open("new", "w").close()
        os.rename("new", f"{time.time_ns()}")
        open("new", "w").close()
        return "new"
    def clock(_): return time.time_ns()
    def processes(of):
        with multiprocessing.get_context("fork").Pool(1) as started: return started.map(clock, of)
    def order():
        found = []
        def late(k):
            time.sleep(random.SystemRandom().random() / 100)
            found.append(k)
        threads = [threading.Thread(target=late, args=(k,)) for k in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        return found
    async def awaited():
        found = []
        async def late(k):
            program = await asyncio.create_subprocess_exec(sys.executable, "own.py", stdout=-1)
            found.append(await program.communicate())
        await asyncio.gather(*map(late, range(2)))
        return found
    def main():
        total = 0.0
        for epoch in range(3):
            total += epoch
            print("epoch", epoch, total)
        value = ASKED
        with open("truth", "w") as file: file.write(repr(value))
        #PROBE
        print("saved")
    main()
"""


@pytest.mark.parametrize("source", IN_FUNCTIONS)
def test_what_a_function_asks_for_after_its_last_loop_is_right_or_flagged(workshop: Workshop, source: str) -> None:
    workshop.write("own.py", "import time; print(time.time_ns())\n")
    text = IN_A_FUNCTION.replace("ASKED", IN_FUNCTIONS[source])
    replayed, truth = workshop.written_down(text, 'print("P", repr(value))')
    is_right = replayed.out == f"P {truth}\n"
    assert is_right or "exact: " not in replayed.said, replayed.out + truth + replayed.said


def test_what_a_coroutine_asks_for_in_its_loop_is_right_or_flagged(workshop: Workshop) -> None:
    workshop.write("own.py", "import time; print(time.time_ns())\n")
    text = """
        import asyncio, sys
        async def said():
            program = await asyncio.create_subprocess_exec(sys.executable, "own.py", stdout=-1)
            return (await program.communicate())[0]
        async def main():
            for epoch in range(3):
                value = await said()
                with open("truth", "a") as file: print(value, file=file)
                #PROBE
                print("epoch", epoch)
        asyncio.run(main())
    """
    replayed, truth = workshop.written_down(text, 'print("P", value)')
    is_right = [line[2:] for line in replayed.out.splitlines()] == truth.splitlines()
    assert replayed.out.count("P b") == 3 and (is_right or "exact: " not in replayed.said), replayed.out + truth + replayed.said


IN_LIBRARIES = {
    "array": (
        "import sklearn.model_selection as ms, sklearn.linear_model as lm",
        "ms.cross_validate(lm.Ridge(), X, X[:, 0])['fit_time']",
    ),
    "number": ("", "np.float64(os.statvfs('.').f_bfree)"),
    "text with the process's number": ("import email.utils", "email.utils.make_msgid()"),
    "today": ("", "np.datetime64('now')"),
    "today in pandas": ("import pandas as pd", "pd.to_datetime('today')"),
}
OF_LIBRARIES = """
    import os, random, time, numpy as np
    IMPORTS
    random.seed(1)
    X = np.random.default_rng(0).normal(size=(100, 3))
    total = 0.0
    for epoch in range(3):
        total += float(X[epoch].sum())
    time.sleep(1.1)
    value = ASKED
    with open("truth", "w") as file: file.write(repr(value))
    with open(os.urandom(4).hex(), "w") as file: file.write("0" * 50_000)
    #PROBE
    print("done", total)
"""


@pytest.mark.parametrize("name", IN_LIBRARIES)
def test_what_a_library_asks_for_is_right_or_flagged(workshop: Workshop, name: str) -> None:
    imports, asked = IN_LIBRARIES[name]
    for library in ("sklearn", "pandas"):
        if library in imports:
            pytest.importorskip(library)
    text = OF_LIBRARIES.replace("ASKED", asked).replace("IMPORTS", imports)
    replayed, truth = workshop.written_down(text, 'print("P", repr(value))')
    is_right = replayed.out == f"P {truth}\n"
    assert is_right or "exact: " not in replayed.said, replayed.out + truth + replayed.said


ELSEWHERE = {
    "clock in a thread": "threaded(clock)",
    "entropy in a thread": "threaded(entropy)",
    "library in a thread": "threaded(library)",
    "forked pool": "forked(entropy)",
    "executor": "executor(clock)",
    "queue of a process": "queued(entropy)",
    "fork": "read_from_fork()",
    "loky": "joblib.Parallel(n_jobs=2, backend='loky')(joblib.delayed(os.urandom)(4) for _ in range(2))",
    "loop of asyncio": "asyncio.new_event_loop().time()",
    "free port": "port()",
    "number of a thread": "threading.get_native_id()",
    "space": "shutil.disk_usage('.').free",
}
OF_OTHERS = """
import asyncio, multiprocessing, os, shutil, socket, threading, time, timeit
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
IMPORTS
def port():
    with socket.socket() as bound:
        bound.bind(("", 0))
        return bound.getsockname()[1]
forks = multiprocessing.get_context("fork")
def clock(_): return time.perf_counter()
def entropy(_): return os.urandom(4).hex()
def library(_): return timeit.Timer("pass").timeit(10)
def threaded(f):
    with ThreadPoolExecutor(2) as pool: return list(pool.map(f, range(3)))
def forked(f):
    with forks.Pool(2) as pool: return pool.map(f, range(3))
def executor(f):
    with ProcessPoolExecutor(2, mp_context=forks) as pool: return list(pool.map(f, range(3)))
def queued(f):
    queue = forks.SimpleQueue()
    process = forks.Process(target=lambda: queue.put(f(0)))
    process.start()
    value = queue.get()
    process.join()
    return value
def read_from_fork():
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, os.urandom(4))
        os._exit(0)
    os.close(write)
    value = os.read(read, 100)
    os.wait()
    return value
def main():
    total = 0.0
    for step in range(50): total += step
    print("total", total)
    for epoch in range(EPOCHS):
        value = ASKED
        with open("truth", "a") as file: print(repr(value), file=file)
        #PROBE
        OVER
main()
"""


@pytest.mark.parametrize("over, source", list(itertools.product(("function", "name"), ELSEWHERE)))
def test_what_others_ask_for_is_right_or_flagged_where_its_name_is_gone(workshop: Workshop, over: str, source: str) -> None:
    asked, is_function = ELSEWHERE[source], over == "function"
    if "joblib" in asked:
        pytest.importorskip("joblib")
    text = OF_OTHERS.replace("IMPORTS", "import joblib" * ("joblib" in asked)).replace("ASKED", asked)
    text = text.replace("EPOCHS", "1" if is_function else "2").replace("OVER", "return" if is_function else "del value")
    replayed, truth = workshop.written_down(text, 'print("P", repr(value))')
    is_right = [line[2:] for line in replayed.out.splitlines() if line.startswith("P ")] == truth.splitlines()
    assert replayed.out.count("P ") == truth.count("\n"), replayed.out + replayed.said
    assert is_right or "exact: " not in replayed.said, replayed.out + truth + replayed.said


def test_what_threads_ask_for_does_no_harm_where_the_names_hold_what_they_held(workshop: Workshop) -> None:
    text = """
        import threading, time
        found = []
        for epoch in range(3):
            thread = threading.Thread(target=lambda: found.append(time.time() > 0))
            thread.start()
            thread.join()
        #PROBE
        print(len(found))
        open("truth", "w").close()
    """
    replayed, _ = workshop.written_down(text, 'print("P", found)')
    assert replayed.out.startswith("P [True") and "exact: " in replayed.said, replayed.out + replayed.said


CLOCKS_OF_LIBRARIES = {
    "bar": ("from tqdm import tqdm", "tqdm(range(3), file=open(os.devnull, 'w'))", "value.start_t"),
    "search": (
        "import sklearn.model_selection as ms, sklearn.linear_model as lm",
        "ms.GridSearchCV(lm.Ridge(), {'alpha': [1.0, 2.0]}, cv=2).fit(X, X[:, 0])",
        "value.refit_time_, list(value.cv_results_['mean_fit_time'])",
    ),
    "record of a logger": ("import logging", "logged()", "value.created, value.relativeCreated"),
    "date of a message": ("import email.utils", "email.utils.localtime()", "value.isoformat()"),
}


@pytest.mark.parametrize("name", CLOCKS_OF_LIBRARIES)
def test_clocks_of_libraries_show_what_they_showed(workshop: Workshop, name: str) -> None:
    imports, asked, shown = CLOCKS_OF_LIBRARIES[name]
    for library in ("sklearn", "tqdm"):
        if library in imports:
            pytest.importorskip(library)
    text = (
        """
        import os, time, numpy as np
        IMPORTS
        X = np.random.default_rng(0).normal(size=(100, 3))
        def logged():
            kept = []
            handler = logging.Handler()
            handler.emit = kept.append
            logging.getLogger("x").addHandler(handler)
            logging.getLogger("x").warning("a")
            return kept[0]
        def main():
            for epoch in range(3):
                value = ASKED
                with open("truth", "a") as file: print(repr((SHOWN)), file=file)
                #PROBE
            print("over")
        main()
    """.replace("ASKED", asked)
        .replace("IMPORTS", imports)
        .replace("SHOWN", shown)
    )
    replayed, truth = workshop.written_down(text, f'print("P", repr(({shown})))')
    given = "".join(line[2:] for line in replayed.out.splitlines(True) if line.startswith("P "))
    assert given == truth and "exact: " in replayed.said, replayed.out + truth + replayed.said


@pytest.mark.parametrize(
    "statement, is_flagged",
    [
        ("print(bar.format_dict['elapsed'])", True),
        ("show(bar)", True),
        ("tqdm.write(f'total {total}')", False),
        ("logging.warning('total %s', total)", False),
    ],
)
def test_an_added_statement_that_has_a_library_ask_a_clock(workshop: Workshop, statement: str, is_flagged: bool) -> None:
    pytest.importorskip("tqdm")
    text = """
        import logging, os
        from tqdm import tqdm
        def show(bar): print(bar.format_dict["elapsed"])
        total = 0
        bar = tqdm(range(4), file=open(os.devnull, "w"))
        for step in bar:
            total += step
            #PROBE
        print("total", total)
        open("truth", "w").close()
    """
    replayed, _ = workshop.written_down(text, statement)
    assert ("exact: " not in replayed.said) == is_flagged, replayed.out + replayed.err + replayed.said
