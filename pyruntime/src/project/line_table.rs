//! The positions of a code object's instructions (`co_linetable` since CPython 3.11, see `Objects/locations.md` there), read,
//! mapped, and written again.

/// Lines count from 1, columns from 0 in bytes of UTF-8.
pub type Position = (usize, usize);

const NONE: u8 = 15;
const LONG: u8 = 14;
const NO_COLUMNS: u8 = 13;
const ONE_LINE: u8 = 10;

/// The table with every position mapped; `None` for one that is not in this format. `first` is the code's first line, `mapped`
/// the first line that it gets.
pub fn map(table: &[u8], first: usize, mapped: usize, to: &dyn Fn(Position) -> Position) -> Option<Vec<u8>> {
    let mut input = Input { table, at: 0 };
    let mut out = Output { table: Vec::with_capacity(table.len() + table.len() / 4), line: signed(mapped)? };
    let mut line = signed(first)?;
    while let Some(head) = input.byte() {
        let (code, units) = ((head >> 3) & 15, head & 7);
        if head & 0x80 == 0 {
            return None;
        }
        let columns = match code {
            NONE => {
                out.table.push(head);
                continue;
            }
            NO_COLUMNS => {
                line += input.svarint()?;
                None
            }
            LONG => {
                line += input.svarint()?;
                let end_line = line + input.varint()?;
                let (start, end) = (input.varint()?, input.varint()?);
                // a column that is not known is written as 0
                (start > 0 && end > 0).then(|| (start - 1, end_line, end - 1))
            }
            _ if code >= ONE_LINE => {
                line += i64::from(code - ONE_LINE);
                Some((i64::from(input.byte()?), line, i64::from(input.byte()?)))
            }
            _ => {
                let second = input.byte()?;
                let start = i64::from(code) * 8 + i64::from(second >> 4);
                Some((start, line, start + i64::from(second & 15)))
            }
        };
        let at = |line: i64, column: i64| match (usize::try_from(line).ok()?, usize::try_from(column).ok()?) {
            // the start of a module has no line
            at @ (0, _) => Some(at),
            at => Some(to(at)),
        };
        match columns {
            None => out.line_only(units, signed(at(line, 0)?.0)?),
            Some((start, end_line, end)) => {
                let ((a, b), (c, d)) = (at(line, start)?, at(end_line, end)?);
                out.whole(units, (signed(a)?, signed(b)?), (signed(c)?, signed(d)?));
            }
        }
    }
    Some(out.table)
}

fn signed(value: usize) -> Option<i64> {
    i64::try_from(value).ok()
}

struct Input<'a> {
    table: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let found = self.table.get(self.at).copied();
        self.at += 1;
        found
    }

    fn varint(&mut self) -> Option<i64> {
        let (mut value, mut shift) = (0i64, 0);
        loop {
            let byte = self.byte()?;
            value |= i64::from(byte & 0x3f).checked_shl(shift)?;
            if byte & 0x40 == 0 {
                return Some(value);
            }
            shift += 6;
        }
    }

    fn svarint(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some(if value & 1 == 1 { -(value >> 1) } else { value >> 1 })
    }
}

struct Output {
    table: Vec<u8>,
    /// The line of the entry before.
    line: i64,
}

impl Output {
    fn line_only(&mut self, units: u8, line: i64) {
        self.head(NO_COLUMNS, units);
        self.svarint(line - self.line);
        self.line = line;
    }

    fn whole(&mut self, units: u8, (line, start): (i64, i64), (end_line, end): (i64, i64)) {
        // what an insertion holds may end before it begins: it is as long as nothing
        let (end_line, end) = if (end_line, end) < (line, start) { (line, start) } else { (end_line, end) };
        let delta = line - self.line;
        self.line = line;
        let byte = |value: i64| u8::try_from(value).unwrap_or(u8::MAX);
        if end_line == line && delta == 0 && start < 80 && end - start < 16 {
            self.head(byte(start / 8), units);
            self.table.push(byte(((start % 8) << 4) | (end - start)));
        } else if end_line == line && (0..3).contains(&delta) && start < 128 && end < 128 {
            self.head(ONE_LINE + byte(delta), units);
            self.table.extend([byte(start), byte(end)]);
        } else {
            self.head(LONG, units);
            self.svarint(delta);
            self.varint(end_line - line);
            self.varint(start + 1);
            self.varint(end + 1);
        }
    }

    fn head(&mut self, code: u8, units: u8) {
        self.table.push(0x80 | (code << 3) | units);
    }

    fn varint(&mut self, mut value: i64) {
        while value >= 64 {
            self.table.push(0x40 | u8::try_from(value & 0x3f).unwrap_or_default());
            value >>= 6;
        }
        self.table.push(u8::try_from(value).unwrap_or_default());
    }

    fn svarint(&mut self, value: i64) {
        self.varint(if value < 0 { (-value << 1) | 1 } else { value << 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn a_map_that_changes_nothing_changes_nothing() {
        // one entry of each form: short, one line, no columns, long, none
        let table = [
            0x80,
            0x12,
            0x80 | (11 << 3),
            4,
            9,
            0x80 | (13 << 3),
            2,
            0x80 | (14 << 3),
            4,
            1,
            5,
            70 & 0x3f | 0x40,
            1,
            0xff,
        ];
        assert_eq!(map(&table, 3, 3, &|at| at).as_deref(), Some(&table[..]));
    }

    #[test]
    fn lines_may_go_back() {
        let table = [0x80 | (11 << 3), 4, 9];
        let back = map(&table, 10, 10, &|(line, column)| (line - 5, column + 100)).expect("a table");
        // long form: six lines back from 11 is 6, four before the first
        assert_eq!(back, [0x80 | (14 << 3), 9, 0, 105 & 0x3f | 0x40, 1, 110 & 0x3f | 0x40, 1]);
    }

    #[test]
    fn what_is_not_a_table_is_refused() {
        assert_eq!(map(&[0x01], 1, 1, &|at| at), None);
        assert_eq!(map(&[0x80 | (14 << 3), 0x40], 1, 1, &|at| at), None);
    }
}
