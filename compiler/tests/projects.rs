//! Projects of many files: all of them are analysed together, and what is said of them does not depend on who parsed them.

use florc::analysis::Analysis;
use florc::project::{Codebase, Found, follow};
use florc::syntax::File;
use florc::{Options, Source};

/// More than fit into what was once analysed together: 300 files, 1 MB.
const FILES: usize = 400;

/// A script, and a chain of modules that import one another. The last one changes what the script hands it.
fn text(number: usize) -> String {
    let padding = "# so that there is something to read\n".repeat(100);
    match number {
        0 => "import m1\nfrom last import keep\nlog = []\nfor epoch in range(3):\n    for item in range(9):\n        \
              keep(item, log)\n    print(len(log))\n"
            .to_owned(),
        FILES => format!("{padding}def keep(item, into):\n    into.append(item)\n"),
        _ if number + 1 == FILES => format!("{padding}import last\n"),
        _ => format!("{padding}import m{}\ndef f{number}(x):\n    return x\n", number + 1),
    }
}

fn project() -> Codebase {
    let script = File::script(Source::new("train.py", text(0)), "").unwrap();
    follow(vec![script], &mut |dotted| {
        let number = if dotted == "last" { Some(FILES) } else { dotted.strip_prefix('m').and_then(|n| n.parse().ok()) };
        match number {
            Some(number) => {
                Found::File { source: Source::new(format!("{dotted}.py"), text(number)), is_package: false }
            }
            None => Found::Foreign,
        }
    })
}

#[test]
fn a_large_project_is_analysed_as_a_whole() {
    let codebase = project();
    assert!(codebase.files.len() > 300 && codebase.bytes() > 1 << 20);
    let plans = Analysis::new(&codebase.files).plans(&Options::default());
    let inner = &plans[0].loops[1];
    let said: Vec<String> =
        inner.changeset.changes.iter().map(|change| format!("{}: {}", change.name(), change.why)).collect();
    assert_eq!(said, ["log: keep(): append() changes its receiver"]);
    assert!(!inner.changeset.changes[0].assumed, "the file that defines `keep` is known");
}

#[test]
fn files_parsed_beside_each_other_stand_in_the_order_of_the_imports() {
    let wide = |dotted: &str| match dotted.strip_prefix('w') {
        Some("") => None,
        Some(number) => {
            Some(format!("x{number} = [\n{}]\n", "    1,\n".repeat(3000 - 7 * number.parse::<usize>().unwrap())))
        }
        None => None,
    };
    let script: String = (0..40).map(|n| format!("import w{}\n", (n * 17) % 40)).collect();
    let found = || {
        let start = vec![File::script(Source::new("train.py", script.as_str()), "").unwrap()];
        let codebase = follow(start, &mut |dotted| match wide(dotted) {
            Some(_) if dotted == "w5" => Found::File { source: Source::new("w5.py", "x = = 1"), is_package: false },
            Some(text) => Found::File { source: Source::new(format!("{dotted}.py"), text), is_package: false },
            None => Found::Foreign,
        });
        let names: Vec<String> = codebase.files.iter().map(|file| file.name.clone()).collect();
        let plans = Analysis::new(&codebase.files).plans(&Options::default());
        let ids: Vec<_> = codebase.files.iter().map(|file| file.module.body[0].id).collect();
        (names, codebase.unfollowed, ids, plans.len())
    };
    let (names, unfollowed, ids, plans) = found();
    let expected: Vec<String> = (0..40).map(|n| (n * 17) % 40).filter(|&n| n != 5).map(|n| format!("w{n}")).collect();
    assert_eq!(names[1..], expected);
    assert!(unfollowed.len() == 1 && unfollowed[0].why.starts_with("w5 cannot be read: "), "{unfollowed:?}");
    assert!(ids.is_sorted() && plans == 40);
    assert_eq!((names, unfollowed, ids, plans), found());
}

#[test]
fn no_thread_is_left_when_a_project_is_read() {
    let threads = || std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    let before = threads();
    for _ in 0..3 {
        project();
    }
    // Tests run beside each other, on as many threads as before.
    assert!(threads() <= before + 2, "{} threads were {before}", threads());
}
