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
