//! What a reader wants of the page: one line of text that the browser keeps.

/// The version of the line. A line of another version is not read.
const VERSION: &str = "1";

/// The colours.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Theme {
    /// What the system says.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// How much may move.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Motion {
    /// What the system says.
    #[default]
    Auto,
    /// Nothing.
    Reduced,
}

/// How much a screen reader is told.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Telling {
    /// Nothing.
    Off,
    /// What decides something.
    Decisions,
    /// Each step.
    #[default]
    Events,
}

/// A setting with its values, each with the word that is kept for it.
pub trait Words: Copy + PartialEq + 'static {
    /// All values, in the order in which they are offered.
    const ALL: &'static [(Self, &'static str)];

    /// The word of a value.
    fn word(self) -> &'static str {
        Self::ALL.iter().find(|v| v.0 == self).map_or("", |v| v.1)
    }

    /// The value of a word.
    fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|v| v.1 == word).map(|v| v.0)
    }
}

impl Words for Theme {
    const ALL: &'static [(Theme, &'static str)] =
        &[(Theme::Auto, "auto"), (Theme::Light, "light"), (Theme::Dark, "dark")];
}

impl Words for Motion {
    const ALL: &'static [(Motion, &'static str)] =
        &[(Motion::Auto, "auto"), (Motion::Reduced, "reduced")];
}

impl Words for Telling {
    const ALL: &'static [(Telling, &'static str)] =
        &[(Telling::Off, "off"), (Telling::Decisions, "decisions"), (Telling::Events, "events")];
}

impl Words for bool {
    const ALL: &'static [(bool, &'static str)] = &[(true, "on"), (false, "off")];
}

/// All settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The colours.
    pub theme: Theme,
    /// How much may move.
    pub motion: Motion,
    /// How much a screen reader is told.
    pub telling: Telling,
    /// Keys with a single letter, digit or sign do something.
    pub letters: bool,
    /// Playing stops at beats, and not only at questions.
    pub stops: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            theme: Theme::Auto,
            motion: Motion::Auto,
            telling: Telling::Events,
            letters: true,
            stops: true,
        }
    }
}

impl Settings {
    /// Reads a line. What it cannot read keeps its default: somebody else may have written it.
    pub fn parse(line: &str) -> Settings {
        let mut settings = Settings::default();
        let mut words = line.split(' ');
        if words.next() != Some(VERSION) {
            return settings;
        }
        for (key, word) in words.filter_map(|w| w.split_once('=')) {
            match key {
                "theme" => take(&mut settings.theme, word),
                "motion" => take(&mut settings.motion, word),
                "telling" => take(&mut settings.telling, word),
                "letters" => take(&mut settings.letters, word),
                "stops" => take(&mut settings.stops, word),
                _ => {}
            }
        }
        settings
    }

    /// The line that [`Settings::parse`] reads.
    pub fn line(self) -> String {
        let Settings { theme, motion, telling, letters, stops } = self;
        let words = [
            VERSION,
            " theme=",
            theme.word(),
            " motion=",
            motion.word(),
            " telling=",
            telling.word(),
            " letters=",
            letters.word(),
            " stops=",
            stops.word(),
        ];
        words.concat()
    }
}

fn take<T: Words>(place: &mut T, word: &str) {
    if let Some(value) = T::of(word) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::{Motion, Settings, Telling, Theme, Words};

    #[test]
    fn settings_survive_the_browser() {
        for (theme, _) in Theme::ALL {
            for (motion, _) in Motion::ALL {
                for (telling, _) in Telling::ALL {
                    for (letters, stops) in [(true, false), (false, true)] {
                        let (theme, motion, telling) = (*theme, *motion, *telling);
                        let all = Settings { theme, motion, telling, letters, stops };
                        assert_eq!(Settings::parse(&all.line()), all);
                    }
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_read_keeps_its_default() {
        let parsed = Settings::parse("1 theme=pink letters=off = stops new=1");
        assert_eq!(parsed, Settings { letters: false, ..Settings::default() });
        for strange in ["", "2 theme=dark", "theme=dark", "\u{0}"] {
            assert_eq!(Settings::parse(strange), Settings::default());
        }
    }
}
