//! Options of a command: `--name VALUE` or `--name=VALUE`, and what is no option.

/// The arguments of a command, sorted.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Args<'a> {
    /// What is no option, in order.
    pub plain: Vec<&'a str>,
    options: Vec<(&'a str, &'a str)>,
}

impl<'a> Args<'a> {
    /// Sorts arguments; `known` are the options that take a value, with their dashes.
    ///
    /// # Errors
    /// One sentence about an option that does not exist or has no value.
    pub fn sort(arguments: &[&'a str], known: &[&str]) -> Result<Args<'a>, String> {
        let mut args = Args::default();
        let mut rest = arguments.iter().copied();
        while let Some(argument) = rest.next() {
            if !argument.starts_with('-') || argument == "-" {
                args.plain.push(argument);
                continue;
            }
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument, None),
            };
            if !known.contains(&name) {
                let known = crate::sim::list(known.iter().copied());
                return Err(format!("There is no option `{name}` here; the options are {known}."));
            }
            let value = value.or_else(|| rest.next());
            args.options.push((name, value.ok_or(format!("`{name}` needs a value after it."))?));
        }
        Ok(args)
    }

    /// The value of an option that stands at most once.
    ///
    /// # Errors
    /// One sentence where it stands twice.
    pub fn one(&self, name: &str) -> Result<Option<&'a str>, String> {
        let mut values = self.all(name);
        let first = values.next();
        match values.next() {
            None => Ok(first),
            Some(_) => Err(format!("`{name}` stands twice.")),
        }
    }

    /// All values of an option, in order.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.options.iter().filter(move |o| o.0 == name).map(|o| o.1)
    }
}
