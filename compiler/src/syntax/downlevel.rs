//! Newer spellings, told to the grammar in older ones.
//!
//! Tokens are rewritten, never text: every token that stays keeps its place in the user's file, and those that are put in
//! are empty. (Formatted strings: `lexer/format.rs`.)

use super::lexer::token::{Spanned, error};
use super::range::to_range;
use crate::diagnostics::Diagnostic;
use rustpython_parser::Tok;
use rustpython_parser::ast::text_size::TextRange;

/// `match` and `case` (PEP 634) are names unless they open a logical line of the right shape. Says whether the block that
/// follows is one of cases.
pub(super) fn soft_keywords(line: &mut [Spanned], in_match: bool) -> bool {
    let ends_in_colon = line.len() > 2 && line.last().is_some_and(|(token, _)| *token == Tok::Colon);
    let Some((first, _)) = line.first_mut() else { return false };
    match first {
        // No other statement begins with a name and ends in a colon.
        Tok::Name { name } if name == "match" && ends_in_colon => {
            *first = Tok::Match;
            true
        }
        Tok::Name { name } if name == "case" && in_match => {
            *first = Tok::Case;
            false
        }
        _ => false,
    }
}

/// `type X = …` (PEP 695): two names side by side at the start of a statement. Called before the second is put.
pub(super) fn type_keyword(tokens: &mut [Spanned]) {
    let Some(((last, _), before)) = tokens.split_last_mut() else { return };
    let is_type = matches!(last, Tok::Name { name } if name == "type");
    let starts = before
        .last()
        .is_none_or(|(token, _)| matches!(token, Tok::Newline | Tok::Indent | Tok::Dedent | Tok::Semi | Tok::Colon));
    if is_type && starts {
        *last = Tok::Type;
    }
}

/// Whether a `[` here opens type parameters: after the name of a function, class or type.
pub(super) fn follows_definition(tokens: &[Spanned]) -> bool {
    matches!(tokens, [.., (Tok::Def | Tok::Class | Tok::Type, _), (Tok::Name { .. }, _)])
}

/// Type parameters (PEP 695) and their defaults (PEP 696) are evaluated when asked for, in a scope of their own: they have
/// no effect where they stand. Their tokens are taken out; their expressions are parsed for errors alone.
pub(super) fn type_parameters(tokens: Vec<Spanned>, asides: &mut Vec<Vec<Spanned>>) -> Result<(), Diagnostic> {
    let place = |at: usize| tokens.get(at).map(|(_, range)| to_range(*range)).unwrap_or_default();
    let end = tokens.len().saturating_sub(1);
    if end <= 1 {
        return Err(error("type parameters are missing", place(0)));
    }
    let mut at = 1;
    while at < end {
        let is_tuple = tokens[at].0 == Tok::Star;
        let starred = is_tuple || tokens[at].0 == Tok::DoubleStar;
        at += usize::from(starred);
        if !matches!(tokens[at].0, Tok::Name { .. }) {
            return Err(error("a type parameter is a name", place(at)));
        }
        at += 1;
        for sign in [Tok::Colon, Tok::Equal] {
            if tokens[at].0 != sign || (starred && sign == Tok::Colon) {
                continue;
            }
            let stop = expression_end(&tokens, at + 1);
            if stop == at + 1 {
                return Err(error("an expression is missing", place(at)));
            }
            // `*Ts = *tuple` is allowed; the star means nothing to its effects.
            let star = usize::from(tokens[at + 1].0 == Tok::Star);
            if star == 1 && !(is_tuple && sign == Tok::Equal) {
                return Err(error("a starred expression is allowed only as the default of `*Ts`", place(at + 1)));
            }
            asides.push(tokens[at + 1 + star..stop].to_vec());
            at = stop;
        }
        match tokens[at].0 {
            Tok::Comma => at += 1,
            _ if at == end => {}
            _ => return Err(error("invalid syntax in type parameters", place(at))),
        }
    }
    Ok(())
}

/// Where the expression at `from` ends: at a comma, an `=` or the closing bracket that is not its own.
fn expression_end(tokens: &[Spanned], from: usize) -> usize {
    let (mut depth, mut lambdas) = (0_usize, 0_usize);
    for (at, (token, _)) in tokens.iter().enumerate().skip(from) {
        match token {
            Tok::Lpar | Tok::Lsqb | Tok::Lbrace => depth += 1,
            Tok::Rpar | Tok::Rsqb | Tok::Rbrace if depth == 0 => return at,
            Tok::Rpar | Tok::Rsqb | Tok::Rbrace => depth -= 1,
            Tok::Lambda if depth == 0 => lambdas += 1,
            Tok::Colon if depth == 0 => lambdas = lambdas.saturating_sub(1),
            Tok::Comma | Tok::Equal if depth == 0 && lambdas == 0 => return at,
            _ => {}
        }
    }
    tokens.len()
}

/// `except A, B:` (PEP 758) is `except (A, B):`. Called at a colon outside brackets, before it is put; `line` is where the
/// tokens of its logical line begin.
pub(super) fn exceptions(tokens: &mut Vec<Spanned>, line: usize) {
    if tokens.get(line).is_none_or(|(token, _)| *token != Tok::Except) {
        return;
    }
    let start = line + 1 + usize::from(tokens.get(line + 1).is_some_and(|(token, _)| *token == Tok::Star));
    let (mut depth, mut listed) = (0_usize, false);
    for (token, _) in &tokens[start.min(tokens.len())..] {
        match token {
            Tok::Lpar | Tok::Lsqb | Tok::Lbrace => depth += 1,
            Tok::Rpar | Tok::Rsqb | Tok::Rbrace => depth = depth.saturating_sub(1),
            Tok::Comma if depth == 0 => listed = true,
            // The colon of the clause has been put before, or names are bound: nothing to rewrite.
            Tok::Colon | Tok::As | Tok::Lambda if depth == 0 => return,
            _ => {}
        }
    }
    if listed {
        let begins = tokens[start].1.start();
        let ends = tokens[tokens.len() - 1].1.end();
        tokens.insert(start, (Tok::Lpar, TextRange::empty(begins)));
        tokens.push((Tok::Rpar, TextRange::empty(ends)));
    }
}
