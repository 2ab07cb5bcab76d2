//! The colours of the marks: one hue a meaning, in a light and a dark set.

/// What a mark means. Shape, pattern and word say it too; colour only repeats it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// Lines and words without a meaning of their own.
    Ink,
    /// What stands back: axis, folds, pauses, waiting.
    Muted,
    /// A lock that is held, a write that was accepted.
    Hold,
    /// A belief without truth behind it, and what came too late without doing harm.
    Stale,
    /// Two believers, and harm.
    Danger,
    /// Refused, and safe for it.
    Fenced,
}

impl Role {
    /// All roles, in the order of the palettes.
    pub const ALL: [Role; 6] =
        [Role::Ink, Role::Muted, Role::Hold, Role::Stale, Role::Danger, Role::Fenced];

    /// The word that style sheets use.
    pub const fn word(self) -> &'static str {
        match self {
            Role::Ink => "ink",
            Role::Muted => "muted",
            Role::Hold => "hold",
            Role::Stale => "stale",
            Role::Danger => "danger",
            Role::Fenced => "fenced",
        }
    }
}

/// A set of colours, each as 0xRRGGBB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Palette {
    /// The page.
    pub ground: u32,
    /// Boxes that lie on the page.
    pub surface: u32,
    /// Hairlines that only separate.
    pub hairline: u32,
    /// One colour a role, in the order of [`Role::ALL`].
    pub roles: [u32; 6],
}

impl Palette {
    /// The colour of a role.
    pub const fn of(&self, role: Role) -> u32 {
        match role {
            Role::Ink => self.roles[0],
            Role::Muted => self.roles[1],
            Role::Hold => self.roles[2],
            Role::Stale => self.roles[3],
            Role::Danger => self.roles[4],
            Role::Fenced => self.roles[5],
        }
    }
}

/// For a light page.
pub const LIGHT: Palette = Palette {
    ground: 0xFFFFFF,
    surface: 0xF4F6FA,
    hairline: 0xDDE1EA,
    roles: [0x1B2430, 0x667087, 0x003C83, 0x7F5700, 0xD40850, 0x047F62],
};

/// For a dark page.
pub const DARK: Palette = Palette {
    ground: 0x0F1420,
    surface: 0x1A2233,
    hairline: 0x2B3549,
    roles: [0xEEF2F8, 0x8A93A3, 0x5C9DFA, 0xFFD033, 0xFF4D5E, 0x46F5C8],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of WCAG 2.2.
    fn luminance(colour: u32) -> f64 {
        let channel = |shift: u32| {
            let c = f64::from(colour >> shift & 0xFF) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_role_may_carry_text_on_both_backgrounds() {
        assert!((contrast(0x000000, 0xFFFFFF) - 21.0).abs() < 1e-9, "the formula itself");
        for palette in [LIGHT, DARK] {
            for role in Role::ALL {
                for behind in [palette.ground, palette.surface] {
                    let found = contrast(palette.of(role), behind);
                    assert!(found >= 4.5, "{role:?} on #{behind:06X}: {found:.2}");
                }
            }
        }
    }

    #[test]
    fn ink_keeps_its_contrast_on_the_wash_of_an_overlap() {
        // 8 % of danger over the light ground, 14 % over the dark one.
        for (palette, share) in [(LIGHT, 8), (DARK, 14)] {
            let (over, under) = (palette.of(Role::Danger), palette.ground);
            let mix = |shift: u32| {
                let (a, b) = (over >> shift & 0xFF, under >> shift & 0xFF);
                ((a * share + b * (100 - share)) / 100) << shift
            };
            let wash = mix(16) | mix(8) | mix(0);
            assert!(contrast(palette.of(Role::Ink), wash) >= 4.5);
        }
    }
}
