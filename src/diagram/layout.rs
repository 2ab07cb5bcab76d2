//! From a run to a picture.

use super::picture::{Layout, Picture};
use crate::run::Run;

/// Lays a run out.
pub fn layout(_run: &Run, layout: &Layout) -> Picture {
    Picture { width: layout.width, scale: layout.scale, ..Picture::default() }
}
