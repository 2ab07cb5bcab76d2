//! Virtual time: integer microseconds, three clocks a process, durations as people write them.

use std::fmt;

/// A moment or a span of virtual time, in microseconds since the start of the run.
///
/// No float and no wall clock ever decides anything in a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Micros(pub u64);

impl Micros {
    /// The start of every run.
    pub const ZERO: Micros = Micros(0);

    /// A span of whole milliseconds.
    pub const fn from_millis(ms: u64) -> Micros {
        Micros(ms * 1_000)
    }

    /// A span of whole seconds.
    pub const fn from_secs(s: u64) -> Micros {
        Micros(s * 1_000_000)
    }

    /// The later moment that lies `span` after this one, at the latest the end of time.
    pub const fn plus(self, span: Micros) -> Micros {
        Micros(self.0.saturating_add(span.0))
    }

    /// The span from `earlier` to this moment, zero where `earlier` is later.
    pub const fn since(self, earlier: Micros) -> Micros {
        Micros(self.0.saturating_sub(earlier.0))
    }

    /// Reads `250us`, `250ms`, `3s`, `1.5s` or `2m`; `None` for anything else, a negative span included.
    ///
    /// Digits finer than a microsecond are refused rather than rounded.
    pub fn parse(text: &str) -> Option<Micros> {
        let split = text.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, unit) = text.split_at(split);
        let scale: u64 = match unit {
            "us" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            "m" => 60_000_000,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || (number.contains('.') && fraction.is_empty()) {
            return None;
        }
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
            return None;
        }
        let mut total = whole.parse::<u64>().ok()?.checked_mul(scale)?;
        if !fraction.is_empty() {
            let numerator = fraction.parse::<u64>().ok()?.checked_mul(scale)?;
            let denominator = 10u64.pow(fraction.len() as u32);
            if numerator % denominator != 0 {
                return None;
            }
            total = total.checked_add(numerator / denominator)?;
        }
        Some(Micros(total))
    }
}

/// The shortest of the forms that [`Micros::parse`] reads back to the same value.
impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "0s"),
            n if n % 1_000_000 == 0 => write!(f, "{}s", n / 1_000_000),
            n if n % 1_000 == 0 => write!(f, "{}ms", n / 1_000),
            n => write!(f, "{n}us"),
        }
    }
}

/// A rate as a fraction: `4/5` runs at four fifths of true speed. Both parts are positive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ratio {
    /// Local time that passes ...
    pub num: u32,
    /// ... while this much true time passes.
    pub den: u32,
}

impl Ratio {
    /// True speed.
    pub const ONE: Ratio = Ratio { num: 1, den: 1 };

    /// Reads `4/5` or `2`; `None` for zero, negative or malformed rates.
    pub fn parse(text: &str) -> Option<Ratio> {
        let (num, den) = text.split_once('/').unwrap_or((text, "1"));
        let (num, den) = (num.parse().ok()?, den.parse().ok()?);
        (num > 0 && den > 0).then_some(Ratio { num, den })
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.num, self.den)
    }
}

/// What a process's clock shows, in microseconds; may be negative after a step back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Local(pub i64);

impl Local {
    /// The reading `span` later on the same clock.
    pub const fn plus(self, span: Micros) -> Local {
        Local(self.0.saturating_add_unsigned(span.0))
    }

    /// The span from this reading to `later`, zero where it has passed.
    pub const fn until(self, later: Local) -> Micros {
        Micros(if later.0 > self.0 { later.0.abs_diff(self.0) } else { 0 })
    }
}

/// Which of a process's clocks a reader or a timer uses.
///
/// Source: the clocks of Linux (`clock_gettime(2)`): the wall clock may be stepped, the monotonic
/// clock never steps and stands still while the host sleeps, the boot-time clock counts that sleep.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ClockKind {
    /// The time of day: can be stepped either way.
    Wall,
    /// Never steps; stands still while the host is suspended.
    Mono,
    /// Like the monotonic clock, but counts a suspended host's time.
    Boot,
}

/// A clock as a line through (true time, local time) with a rational slope, or standing still.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Clock {
    anchor: Micros,
    shown: Local,
    rate: Ratio,
    /// It shows the same reading until it is let run again; the rate waits.
    stopped: bool,
}

impl Clock {
    /// A clock that is `offset` ahead at the start and runs at `rate`.
    pub const fn new(offset: Local, rate: Ratio) -> Clock {
        Clock { anchor: Micros::ZERO, shown: offset, rate, stopped: false }
    }

    /// What the clock shows at true time `now`, rounded down to a microsecond.
    pub fn read(&self, now: Micros) -> Local {
        if self.stopped {
            return self.shown;
        }
        if self.rate.num == self.rate.den {
            return self.shown.plus(now.since(self.anchor));
        }
        let passed = u128::from(now.since(self.anchor).0);
        let local = passed * u128::from(self.rate.num) / u128::from(self.rate.den);
        Local(self.shown.0.saturating_add(i64::try_from(local).unwrap_or(i64::MAX)))
    }

    /// The first true moment, not before `now`, at which the clock shows `deadline` or more. A clock
    /// that stands still reaches no later reading.
    pub fn when(&self, now: Micros, deadline: Local) -> Option<Micros> {
        if self.read(now) >= deadline {
            return Some(now);
        }
        if self.stopped {
            return None;
        }
        if self.rate.num == self.rate.den {
            return Some(self.anchor.plus(self.shown.until(deadline)).max(now));
        }
        let wanted = u128::from(deadline.0.abs_diff(self.shown.0));
        let span = (wanted * u128::from(self.rate.den)).div_ceil(u128::from(self.rate.num));
        let span = u64::try_from(span).unwrap_or(u64::MAX);
        Some(now.max(self.anchor.plus(Micros(span))))
    }

    /// The true moment at which the clock came to show `reading`, which it has passed: the moment
    /// of the last change of the clock, if that change alone brought it there.
    ///
    /// A reading that it had passed before that change has to be asked of the clock as it was then.
    pub fn passed(&self, reading: Local) -> Micros {
        if self.stopped {
            return self.anchor;
        }
        let behind = reading.0.saturating_sub(self.shown.0);
        let Ok(behind) = u128::try_from(behind) else { return self.anchor };
        let span = (behind * u128::from(self.rate.den)).div_ceil(u128::from(self.rate.num));
        self.anchor.plus(Micros(u64::try_from(span).unwrap_or(u64::MAX)))
    }

    /// Steps the clock by `delta` microseconds at true time `now`.
    pub fn step(&mut self, now: Micros, delta: i64) {
        let shown = Local(self.read(now).0.saturating_add(delta));
        *self = Clock { anchor: now, shown, ..*self };
    }

    /// Lets the clock run at `rate` from true time `now` on.
    pub fn set_rate(&mut self, now: Micros, rate: Ratio) {
        *self = Clock { anchor: now, shown: self.read(now), rate, ..*self };
    }

    /// Lets the clock stand still, or run again from what it shows.
    pub fn stop(&mut self, now: Micros, stopped: bool) {
        if self.stopped != stopped {
            *self = Clock { anchor: now, shown: self.read(now), stopped, ..*self };
        }
    }

    /// How fast it runs, or will where it stands still.
    pub fn rate(&self) -> Ratio {
        self.rate
    }

    /// Whether it stands still.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }
}

/// The three clocks of one process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Clocks {
    /// The time of day.
    pub wall: Clock,
    /// Time since some start, without steps.
    pub mono: Clock,
    /// Time since boot, sleep included.
    pub boot: Clock,
}

impl Clocks {
    /// Clocks that show true time.
    pub const TRUE: Clocks = {
        let clock = Clock::new(Local(0), Ratio::ONE);
        Clocks { wall: clock, mono: clock, boot: clock }
    };

    /// The clock of that kind.
    pub fn get(&self, kind: ClockKind) -> &Clock {
        match kind {
            ClockKind::Wall => &self.wall,
            ClockKind::Mono => &self.mono,
            ClockKind::Boot => &self.boot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_print_as_they_parse() {
        for n in [0, 1, 999, 1_000, 1_500, 250_000, 1_000_000, 90_000_000, u64::MAX] {
            assert_eq!(Micros::parse(&Micros(n).to_string()), Some(Micros(n)));
        }
        assert_eq!(Micros::parse("1.5s"), Some(Micros(1_500_000)));
        assert_eq!(Micros::parse("2m"), Some(Micros(120_000_000)));
        for bad in ["", "3", "s", "-3s", "3 s", "1.s", ".5s", "1.0000001s", "3h", "9e9s"] {
            assert_eq!(Micros::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_deadline_is_the_first_moment_at_which_the_clock_shows_it() {
        for (num, den) in [(1, 1), (4, 5), (5, 4), (1, 3), (1001, 1000)] {
            let clock = Clock::new(Local(17), Ratio { num, den });
            for deadline in [18, 100, 12_345, 10_000_000] {
                let when = clock.when(Micros::ZERO, Local(deadline)).expect("it runs");
                assert!(clock.read(when) >= Local(deadline));
                assert!(clock.read(Micros(when.0 - 1)) < Local(deadline));
            }
        }
    }

    #[test]
    fn a_step_moves_the_reading_and_a_rate_keeps_it() {
        let mut clock = Clock::new(Local(0), Ratio::ONE);
        clock.step(Micros(100), -40);
        assert_eq!(clock.read(Micros(100)), Local(60));
        clock.set_rate(Micros(200), Ratio { num: 1, den: 2 });
        assert_eq!(clock.read(Micros(200)), Local(160));
        assert_eq!(clock.read(Micros(300)), Local(210));
    }

    #[test]
    fn a_clock_that_stands_still_reaches_no_later_reading_and_goes_on_where_it_stopped() {
        let mut clock = Clock::new(Local(0), Ratio { num: 1, den: 2 });
        clock.stop(Micros(100), true);
        assert_eq!((clock.read(Micros(100)), clock.read(Micros(900))), (Local(50), Local(50)));
        assert_eq!(clock.when(Micros(200), Local(51)), None);
        assert_eq!(clock.when(Micros(200), Local(50)), Some(Micros(200)));
        clock.step(Micros(300), 10);
        clock.set_rate(Micros(400), Ratio::ONE);
        assert_eq!(clock.read(Micros(500)), Local(60));
        clock.stop(Micros(500), false);
        clock.stop(Micros(600), false);
        assert_eq!(clock.when(Micros(600), Local(260)), Some(Micros(700)));
        assert_eq!(clock.passed(Local(160)), Micros(600));
    }
}
