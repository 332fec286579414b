//! What one entry of the knowledge base says.

/// What calling something does to the objects it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Facts {
    /// The receiver changes.
    pub mutates_receiver: bool,
    /// Every argument changes.
    pub mutates_arguments: bool,
    /// The first argument changes.
    pub mutates_first: bool,
    /// The second positional argument changes.
    pub mutates_second: bool,
    /// The third positional argument changes: the place for results of NumPy's functions of two arrays.
    pub mutates_third: bool,
    /// The first argument is an iterator that is advanced.
    pub consumes_first: bool,
    /// The result is, or holds, the receiver or a part of it.
    pub returns_receiver: bool,
    /// The result is, or holds, the arguments or parts of them.
    pub returns_arguments: bool,
    /// Something is printed, written, shown or sent.
    pub external: bool,
    /// It is `external`, but writes to no file of the script that may be open.
    pub quiet: bool,
    /// A generator of random numbers advances.
    pub random: bool,
    /// A function of Python whose result comes from outside: standard input, a temporary name.
    pub input: bool,
    /// Gradients are written or read.
    pub gradients: bool,
    /// Names or attributes change that analysis cannot follow.
    pub unknowable: bool,
    /// A setting of the whole process changes, which no checkpoint holds, unless the call is the head of a `with`.
    pub settings: bool,
    /// A class whose objects, when called, change nothing.
    pub stateless: bool,
    /// So cheap that a loop of nothing else is not worth skipping.
    pub cheap: bool,
}

impl Facts {
    /// Adds the fact with this name in the files.
    pub(super) fn add(&mut self, fact: &str) -> Result<(), String> {
        match fact {
            // Said of what is listed for no other reason than to be known.
            "pure" => {}
            "cheap" => self.cheap = true,
            "mutates-receiver" => self.mutates_receiver = true,
            "mutates-arguments" => self.mutates_arguments = true,
            "mutates-first" => self.mutates_first = true,
            "mutates-second" => self.mutates_second = true,
            "mutates-third" => self.mutates_third = true,
            "consumes-first" => self.consumes_first = true,
            "returns-receiver" => self.returns_receiver = true,
            "returns-arguments" => self.returns_arguments = true,
            "external" => self.external = true,
            "quiet" => self.quiet = true,
            "random" => self.random = true,
            "input" => self.input = true,
            "gradients" => self.gradients = true,
            "settings" => self.settings = true,
            "stateless" => self.stateless = true,
            "unknowable" => self.unknowable = true,
            other => return Err(format!("unknown fact `{other}`")),
        }
        Ok(())
    }
}
