//! A loop of a library, split where the list of loops says so (`followed.toml`): by insertions, which stay on their lines.

use super::edits::{Edit, Emitted};
use crate::knowledge::Followed;
use crate::source::Source;

/// The text of a library's file in which lines are others, with the way back to it. None where the list has none for these lines, or
/// they stand there more than once.
pub fn rewritten(source: &Source, known: &Followed) -> Option<Emitted> {
    known.rewritten.iter().find_map(|lines| edits(&source.text, lines)).map(|edits| Emitted::new(source, edits))
}

fn edits(text: &str, lines: &[(String, String)]) -> Option<Vec<Edit>> {
    let mut offset = 0;
    let mut all = Vec::new();
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        all.push((offset + line.find(content).unwrap_or(0), content));
        offset += line.len();
    }
    let is_there = |found: &[(usize, &str)]| found.iter().zip(lines).all(|((_, content), (old, _))| content == old);
    let mut found = all.windows(lines.len()).filter(|window| is_there(window));
    let place = found.next().filter(|_| found.next().is_none())?;
    let change = |(&(start, _), (old, new)): (&(usize, &str), &(String, String))| insertion(start, old, new);
    Some(place.iter().zip(lines).filter_map(change).collect())
}

/// What makes of a line another one; None of one that stays.
fn insertion(start: usize, old: &str, new: &str) -> Option<Edit> {
    let same = old.bytes().zip(new.bytes()).take_while(|(one, two)| one == two).count();
    let added = new.len().checked_sub(old.len()).filter(|added| *added > 0)?;
    let text = new.get(same..same + added)?.to_owned();
    let offset = start + same;
    Some(Edit { offset, text, anchor: offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    const MODULE: &str = "lightning.pytorch.loops.training_epoch_loop";
    const LOOP: &str = "class L:\n    def run(self, data_fetcher):\n        while not self.done:\n            try:\n                self.advance(data_fetcher)\n                self.on_advance_end(data_fetcher)\n            except StopIteration:\n                break\n            finally:\n                self.on_iteration_done()\n";

    fn emitted(text: &str) -> Option<Emitted> {
        rewritten(&Source::new("loops.py", text), Knowledge::shipped().followed(MODULE)?)
    }

    #[test]
    fn every_line_is_one_insertion_away_from_the_librarys() {
        for (old, new) in Knowledge::shipped().followed(MODULE).unwrap().rewritten.iter().flatten() {
            let made = insertion(0, old, new).map_or_else(
                || old.clone(),
                |edit| format!("{}{}{}", &old[..edit.offset], edit.text, &old[edit.offset..]),
            );
            assert_eq!(&made, new);
        }
    }

    #[test]
    fn lines_keep_their_numbers_and_the_way_back_leads_to_what_was_there() {
        let made = emitted(LOOP).unwrap();
        assert_eq!(made.text.lines().count(), LOOP.lines().count());
        assert_eq!(super::super::undo(&made), LOOP);
        let source = Source::new("loops.py", LOOP);
        let (line, text) = made.text.lines().enumerate().find(|(_, line)| line.contains("; self.advance")).unwrap();
        let to = made.positions(&source);
        assert_eq!(to((line + 1, text.find("self.advance(").unwrap())), (5, 16));
        assert_eq!(to((line + 1, text.len())), (5, 16 + "self.advance(data_fetcher)".len()));
        assert_eq!(to((line + 1, text.find("self.on_iteration_done").unwrap())), (5, 16));
    }

    #[test]
    fn other_lines_or_several_such_loops_are_left_as_they_are() {
        assert!(emitted(&LOOP.replace("self.on_iteration_done()", "self.over()")).is_none());
        assert!(emitted(&LOOP.repeat(2)).is_none());
    }
}
