//! Work grows as the source does: twice the loops take twice the allocations and bytes, in every stage. Time is not asked.
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeSet;

use florc::analysis::Analysis;
use florc::plan::schema;
use florc::probes::compare;
use florc::syntax::File;
use florc::{Options, Source, emit::emit_checked};

thread_local! {
    /// Of this thread: tests run beside each other.
    static TAKEN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

struct Counting;

// SAFETY: every call is handed on to the system's allocator as it came
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // not there any more while a thread ends
        let _ = TAKEN.try_with(|taken| {
            let (count, bytes) = taken.get();
            taken.set((count + 1, bytes + layout.size() as u64));
        });
        // SAFETY: as the caller promises
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Loops one after another, each with names and a function of its own.
fn one_after_another(count: usize) -> String {
    let piece = |n: usize| {
        format!(
            "found{n} = []\ndef step{n}(x):\n    return x * {n} + 1\nfor item{n} in values:\n    y{n} = step{n}(item{n})\n    \
             total += y{n}\n    if y{n} > 3:\n        found{n}.append(y{n})\nprint(total, len(found{n}))\n"
        )
    };
    format!("values = list(range(10))\ntotal = 0\n{}", (0..count).map(piece).collect::<String>())
}

/// Trainings one after another, of the same names.
fn trainings(count: usize) -> String {
    let piece = "for epoch in range(3):\n    for x, y in loader:\n        loss = net(x).sub(y).pow(2).mean()\n        \
                 opt.zero_grad()\n        loss.backward()\n        opt.step()\n    print(epoch, loss.item())\n";
    format!(
        "import torch\nnet = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nloader = [(torch.ones(1, 2), \
         torch.ones(1))]\n{}",
        piece.repeat(count)
    )
}

/// Classes with methods of the same names, and a loop for each.
fn classes(count: usize) -> String {
    let piece = |n: usize| {
        format!(
            "class Meter{n}:\n    def __init__(self):\n        self.total = 0\n    def add(self, value):\n        self.total += \
             value\nmeter{n} = Meter{n}()\nfor item{n} in range(3):\n    meter{n}.add(item{n})\n"
        )
    };
    (0..count).map(piece).collect()
}

fn file(text: &str) -> File {
    File::new(Source::new("train.py", text), File::SCRIPT, "").expect("Python")
}

/// Allocations and bytes of some work.
fn taken(work: impl FnOnce()) -> (u64, u64) {
    let before = TAKEN.get();
    work();
    let after = TAKEN.get();
    (after.0 - before.0, after.1 - before.1)
}

fn record(text: &str) {
    let file = file(text);
    let plan = Analysis::new(std::slice::from_ref(&file)).plans(&Options::default()).remove(0);
    emit_checked(&file, &plan, &[]).map(|_| ()).expect("a file that can be instrumented");
    schema::Plan::new(&file.source, &plan).to_json();
}

fn replay(text: &str) {
    let (old, new) = (file(text), file(&format!("{text}print('more')\n")));
    compare(&[old], &[new], &Options::default(), &BTreeSet::new());
}

/// So many loops to a source.
type Text = fn(usize) -> String;
type Way = fn(&str);

#[test]
fn twice_the_loops_take_twice_the_work() {
    let sources: [(&str, Text); 3] =
        [("one after another", one_after_another), ("trainings", trainings), ("classes", classes)];
    let ways: [(&str, Way); 2] = [("record", record), ("replay", replay)];
    record(&one_after_another(2)); // what is made once: tables of knowledge
    let mut bad = Vec::new();
    for (source, text) in sources {
        for (way, work) in ways {
            let [one, two] = [200, 400].map(|count| taken(|| work(&text(count))));
            for (what, less, more) in [("allocations", one.0, two.0), ("bytes", one.1, two.1)] {
                let growth = more as f64 / less as f64;
                println!("{way}, {source}: {less} to {more} {what}: {growth:.3}");
                if growth > 2.2 {
                    bad.push(format!("{way}, {source}: {less} {what} for 200 loops, {more} for 400"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
