//! Images and documents, in whichever format they stand.

use serde_json::Value;

use super::{Findings, ShapeRule, text};
use crate::Provider;
use crate::media::{MediaLimits, MediaRefusal};

/// What was shown so far.
pub(super) struct Shown {
    provider: Provider,
    images: usize,
    total: usize,
}

/// An image or a document in a body.
struct Item<'v> {
    /// Where its kind stands below the part, and where its bytes or address do.
    places: (&'static str, &'static str),
    is_image: bool,
    /// What it is, and the characters of its base64; `None` for what stands elsewhere.
    here: Option<(&'v str, usize)>,
}

impl Shown {
    pub(super) fn to(provider: Provider) -> Self {
        Self {
            provider,
            images: 0,
            total: 0,
        }
    }

    /// Looks at a part of a message; one that is neither image nor document is passed over.
    pub(super) fn part(&mut self, part: &Value, at: &str, found: &mut Findings) {
        let Some(item) = item(part) else { return };
        let Some(limits) = self.provider.media() else {
            let why = MediaRefusal::TextOnly(self.provider).to_string();
            found.add(ShapeRule::Media, at, why);
            return;
        };
        self.images += usize::from(item.is_image);
        let Some((kind, size)) = item.here else { return };
        self.total += size;
        let (kind_at, data_at) = item.places;
        if item.is_image != kind.starts_with("image/") {
            let message = format!("`{}` does not stand where its kind belongs", kind.escape_debug());
            found.add(ShapeRule::Media, format!("{at}{kind_at}"), message);
        } else if let Some(why) = limits.refuse(self.provider, kind, Some(size)) {
            let place = if matches!(why, MediaRefusal::Kind(..)) {
                kind_at
            } else {
                data_at
            };
            found.add(ShapeRule::Media, format!("{at}{place}"), why.to_string());
        }
    }

    /// All parts were seen; `at` is the conversation.
    pub(super) fn settle(&self, at: &str, found: &mut Findings) {
        let Some(MediaLimits { most, total, .. }) = self.provider.media() else {
            return;
        };
        if self.images > most {
            let why = MediaRefusal::Many(self.images, most).to_string();
            found.add(ShapeRule::Media, at, why);
        }
        if self.total > total {
            let why = MediaRefusal::Together(self.total, total).to_string();
            found.add(ShapeRule::Media, at, why);
        }
    }
}

fn item(part: &Value) -> Option<Item<'_>> {
    let (place, is_image, address) = match text(part, "type") {
        kind @ ("image" | "document") => return Some(of_anthropic(part, kind == "image")),
        "image_url" => ("/image_url/url", true, text(part.get("image_url")?, "url")),
        "input_image" => ("/image_url", true, text(part, "image_url")),
        "file" => ("/file/file_data", false, text(part.get("file")?, "file_data")),
        "input_file" => ("/file_data", false, text(part, "file_data")),
        _ => return None,
    };
    let here = address.strip_prefix("data:").map(|rest| {
        let (kind, data) = rest.split_once(";base64,").unwrap_or((rest, ""));
        (kind, data.len())
    });
    Some(Item {
        places: (place, place),
        is_image,
        here,
    })
}

fn of_anthropic(part: &Value, is_image: bool) -> Item<'_> {
    let source = part.get("source").unwrap_or(&Value::Null);
    let is_here = text(source, "type") == "base64";
    Item {
        places: ("/source/media_type", "/source/data"),
        is_image,
        here: is_here.then(|| (text(source, "media_type"), text(source, "data").len())),
    }
}
