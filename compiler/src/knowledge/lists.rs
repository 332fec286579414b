//! Names about which analysis knows one thing only, and by which it knows them: the class of the object is not known, or
//! does not matter.

use rustc_hash::FxHashSet;
use serde::Deserialize;

/// What a name under `[names]` is known for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum List {
    /// Context managers that swallow no exception, by the last part of their name.
    LetsExceptionsPass,
    /// Methods that make a new iterator each time: `next(net.parameters())` advances nothing else.
    MakesIterators,
    /// Functions whose results take from their arguments as they are asked, and call nothing. Dotted names.
    Walks,
    /// Functions that take all that their argument has. Dotted names.
    Exhausts,
    /// Functions of which it is known that they call what they are given. Dotted names.
    CallsArguments,
    /// Attributes that only give another view of the same data.
    Views,
    /// Methods that return their receiver, and change no class.
    ReturnsItself,
    /// Methods by whose names a loop is seen to train.
    Trains,
    /// Functions and methods of libraries that may take as long as a loop: the loop is in the library. By the last part of their name.
    TakesLong,
    /// The same of what is called a trainer only.
    TakesLongOfTrainers,
    /// Names of modules and objects that are called trainers, besides those that end with the word.
    Trainers,
    /// Parts of the dotted names of compilers, and of what reads the code of functions.
    ReadsCode,
    /// Packages that the words above do not mean, `re.compile`.
    ReadsNoCode,
    /// Arguments by which a `compile` is seen to be that of Keras's models, which reads no code.
    TellsKeras,
    /// Methods that name what they keep by a hash of a function's code.
    HashesFunctions,
    /// Decorators of functions in which calls must stay as they are, by the last part of their name.
    Compiles,
    /// Methods that a library calls by itself, once for each item or each call of an object.
    IsCalledOften,
    /// Methods that the standard library runs of any object that has them: a stream, a handler of a log.
    IsRunOfAnyObject,
    /// Classes, and packages of classes, that run no methods of what derives from them but special ones and `forward`.
    /// Beginnings of dotted names.
    RunsNoMethods,
    /// Modules with which functions are run by their names.
    RunsByName,
    /// Attributes and methods that the form of a tensor or an array answers.
    TellsForm,
    /// Files whose lines come from outside. Dotted names.
    ReadsOutside,
    /// Methods that take a value from outside, of objects whose class is seen when they are called.
    TakesFromOutside,
    /// Functions that a question (`florc ask`) may not call. Dotted names, or their beginnings.
    Acts,
    /// Of these, those that it may call.
    Looks,
    /// Methods that it may not call.
    ActsAsMethod,
    /// Methods that it may not give an argument.
    ActsIfTold,
    /// Functions whose result is nobody else's. Dotted names.
    MakesNew,
}

/// All of them, as the files have them.
#[derive(Debug, Default)]
pub(super) struct Lists(Vec<FxHashSet<String>>);

impl Lists {
    pub(super) fn add(&mut self, list: List, names: &[&str]) {
        if self.0.len() <= list as usize {
            self.0.resize_with(list as usize + 1, FxHashSet::default);
        }
        self.0[list as usize].extend(names.iter().map(|&name| name.to_owned()));
    }

    pub(super) fn of(&self, list: List) -> impl Iterator<Item = &str> {
        self.0.get(list as usize).into_iter().flatten().map(String::as_str)
    }

    pub(super) fn has(&self, list: List, name: &str) -> bool {
        self.0.get(list as usize).is_some_and(|names| names.contains(name))
    }
}
