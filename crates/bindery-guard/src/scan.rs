//! The scan itself: decode, match, judge, once over.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::ops::Range;
use std::sync::Arc;

use crate::broken::{self, Suspects};
use crate::decode::{self, Payload, mirror};
use crate::finding::{DECODED_LIMIT, Finding, Position, Reading, Severity};
use crate::fold::{fold, fold_noting};
use crate::judge::{self, Setting, Wording};
use crate::lines::LineIndex;
use crate::matcher::{Hit, Work};
use crate::region::Regions;
use crate::scanner::Scanner;
use crate::source::Text;
use crate::survey::Survey;
use crate::unicode::{self, Raw};
use crate::view::View;

/// What a scan says about one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Findings by place, worst first where several stand at one place.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The worst severity found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

/// Deepest nesting of encodings that is followed.
const DEEPEST: usize = 2;

/// Scans `bytes`. Any bytes are scanned to their end; the work is linear in their number.
pub fn scan(bytes: &[u8], scanner: &Scanner) -> Report {
    scan_counted(bytes, scanner).0
}

pub(crate) fn scan_counted(bytes: &[u8], scanner: &Scanner) -> (Report, Work) {
    let text = Text::read(bytes);
    let mut scan = Scan::new(&text, scanner);
    let mut suspects = Vec::new();
    let base = fold_noting(text.as_str(), &mut suspects);
    scan.work.add(bytes.len() + text.as_str().len());
    scan.raws.extend(unicode::inspect(text.as_str(), &suspects));
    scan.raws.extend(text.faults());
    let survey = scanner.survey(base.text());
    scan.work.add(base.text().len());
    scan.read_plain(&base, &survey);
    scan.read_joined(&base, &survey.suspects);
    scan.read_mirrored(&base, &survey.mirrored);
    scan.read_payloads();
    scan.read_hidden();
    let report = scan.finish(&base);
    (report, scan.work)
}

/// A judged match, still without line and column.
struct Draft {
    pattern: usize,
    span: Range<usize>,
    reading: Reading,
    disguised: bool,
    wording: Wording,
    decoded: Option<String>,
}

struct Scan<'a> {
    text: &'a Text<'a>,
    scanner: &'a Scanner,
    raws: Vec<Raw>,
    drafts: Vec<Draft>,
    work: Work,
}

impl<'a> Scan<'a> {
    fn new(text: &'a Text<'a>, scanner: &'a Scanner) -> Self {
        Self {
            text,
            scanner,
            raws: Vec::new(),
            drafts: Vec::new(),
            work: Work::default(),
        }
    }

    fn source(&self) -> &'a str {
        self.text.as_str()
    }

    fn read_plain(&mut self, base: &View, survey: &Survey) {
        let hits = self.scanner.surveyed_hits(base.text(), survey, &mut self.work);
        self.take(hits, base, Reading::Plain);
    }

    /// Letters and digits only, where words look spelled or broken.
    fn read_joined(&mut self, base: &View, suspects: &Suspects) {
        let stems = self.scanner.stems();
        for range in &suspects.0 {
            self.work.add(range.len());
            let joined = broken::join(base.text(), range.clone());
            let hits = self.scanner.joined_hits(joined.text(), &mut self.work);
            let hits = hits
                .into_iter()
                .filter(|hit| broken::is_broken(&joined, base.text(), &hit.span, stems))
                .collect();
            let over = joined.over(base);
            self.take(hits, &over, Reading::Joined);
        }
    }

    /// Lines with words that make sense backwards or rotated.
    fn read_mirrored(&mut self, base: &View, places: &[(usize, Reading)]) {
        let mut done = 0;
        for (place, reading) in places {
            let at = base.source_of(*place);
            if at < done {
                continue;
            }
            let line = line_around(self.source(), at);
            done = line.end;
            self.work.add(line.len());
            let text = self.source().get(line.clone()).unwrap_or_default();
            let payload = match reading {
                Reading::Rot13 => mirror::rotated(text, line.start),
                _ => mirror::reversed(text, line.start),
            };
            self.read_payload(&payload, None, 1);
        }
    }

    /// Encoded text within the document.
    fn read_payloads(&mut self) {
        for payload in decode::payloads(self.source(), &mut self.work) {
            self.read_payload(&payload, None, DEEPEST);
        }
    }

    /// A decoded text, which `outer` maps to the document, and what is encoded in it, down to some depth.
    fn read_payload(&mut self, payload: &Payload, outer: Option<&View>, depth: usize) {
        let view = LazyCell::new(|| match outer {
            Some(outer) => Cow::Owned(payload.view().over(outer)),
            None => payload.view(),
        });
        let text = match simdutf8::basic::from_utf8(payload.text()) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(payload.text()),
        };
        let mut suspects = Vec::new();
        let folded = fold_noting(&text, &mut suspects);
        self.work.add(text.len());
        if payload.reading == Reading::JsonString {
            let raws = unicode::inspect(&text, &suspects).into_iter();
            self.raws.extend(raws.map(|raw| Raw {
                span: view.source_range(&raw.span),
                ..raw
            }));
        }
        let hits = self.scanner.plain_hits(folded.text(), &mut self.work);
        if !hits.is_empty() {
            self.take(hits, &folded.over(&view), payload.reading);
        }
        if depth > 1 {
            for nested in decode::payloads(&text, &mut self.work) {
                self.read_payload(&nested, Some(&view), depth - 1);
            }
        }
    }

    /// Text in invisible characters.
    fn read_hidden(&mut self) {
        let hidden: Vec<(Range<usize>, Reading, String)> = self
            .raws
            .iter()
            .filter_map(|raw| Some((raw.span.clone(), raw.reading, raw.decoded.clone()?)))
            .collect();
        for (span, reading, text) in hidden {
            let mut view = View::with_capacity(text.len());
            for byte in text.bytes() {
                view.push(byte, span.start, span.len());
            }
            let folded = fold(&text).over(&view);
            let hits = self.scanner.plain_hits(folded.text(), &mut self.work);
            let from = self.drafts.len();
            self.take(hits, &folded, reading);
            for draft in self.drafts.iter_mut().skip(from) {
                draft.span = span.clone();
            }
        }
    }

    fn take(&mut self, hits: Vec<Hit>, view: &View, reading: Reading) {
        for hit in hits {
            let span = view.source_range(&hit.span);
            let wording = judge::wording(view.text(), hit.span.start, hit.span.end, self.scanner.words());
            let raw = self.source().get(span.clone());
            self.work.add(span.len());
            if is_in_place(reading)
                && raw.is_some_and(|raw| {
                    fold(raw).text() == view.text().get(hit.span.clone()).unwrap_or_default()
                })
            {
                // Nothing was decoded here: the plain reading has it.
                continue;
            }
            let disguised = match reading {
                Reading::Plain => raw.is_none_or(is_disguised),
                Reading::JsonString => raw.is_none_or(hides_letters),
                _ => false,
            };
            let decoded = (reading != Reading::Plain || disguised)
                .then(|| excerpt(view.text().get(hit.span.clone()).unwrap_or_default()));
            self.drafts.push(Draft {
                pattern: hit.pattern,
                span,
                reading,
                disguised,
                wording,
                decoded,
            });
        }
    }

    fn finish(&mut self, base: &View) -> Report {
        if self.drafts.is_empty() && self.raws.is_empty() {
            return Report::default();
        }
        let lines = LineIndex::new(self.source().as_bytes());
        let regions = Regions::new(self.source(), &mut self.work);
        let on_topic = !self.drafts.is_empty() && self.scanner.is_on_topic(base.text());
        let mut findings: Vec<Finding> = Vec::new();
        for draft in &self.drafts {
            findings.extend(self.finding(draft, &regions, &lines, on_topic));
        }
        for raw in &self.raws {
            let place = Place::new(&raw.span, &lines, self.text);
            findings.push(place.finding(raw, regions.at(raw.span.start)));
        }
        Report {
            findings: once(findings),
        }
    }

    fn finding(
        &self,
        draft: &Draft,
        regions: &Regions,
        lines: &LineIndex,
        on_topic: bool,
    ) -> Option<Finding> {
        let pattern = self.scanner.pattern(draft.pattern)?;
        let position = regions.at(draft.span.start);
        let setting = Setting {
            position,
            reading: draft.reading,
            disguised: draft.disguised,
            on_topic,
            wording: draft.wording,
        };
        let (severity, confidence) = judge::judge(pattern, setting)?;
        let place = Place::new(&draft.span, lines, self.text);
        Some(Finding {
            rule: pattern.id.clone(),
            kind: pattern.kind,
            severity,
            confidence,
            span: place.span,
            line: place.start.0,
            column: place.start.1,
            end_line: place.end.0,
            end_column: place.end.1,
            position,
            reading: draft.reading,
            reason: judge::reason(pattern, setting),
            decoded: draft.decoded.clone(),
        })
    }
}

struct Place {
    span: Range<usize>,
    start: (usize, usize),
    end: (usize, usize),
}

impl Place {
    fn new(span: &Range<usize>, lines: &LineIndex, text: &Text) -> Self {
        let bytes = text.as_str().as_bytes();
        let start = lines.locate(bytes, span.start);
        let end = lines.locate(bytes, span.end);
        Self {
            span: text.source_range(span),
            start,
            end,
        }
    }

    fn finding(self, raw: &Raw, position: Position) -> Finding {
        Finding {
            rule: Arc::from(raw.rule),
            kind: raw.kind,
            severity: raw.severity,
            confidence: raw.confidence,
            span: self.span,
            line: self.start.0,
            column: self.start.1,
            end_line: self.end.0,
            end_column: self.end.1,
            position,
            reading: raw.reading,
            reason: raw.reason.clone(),
            decoded: raw
                .decoded
                .as_ref()
                .map(|text| text.chars().take(DECODED_LIMIT).collect()),
        }
    }
}

/// Whether people read `raw` as something else than a model: it has characters that are invisible or
/// imitate ASCII ones, or terminal sequences.
fn is_disguised(raw: &str) -> bool {
    let disguise = |letter: char| match u32::from(letter) {
        0x00..=0x1F => !matches!(letter, '\t' | '\n' | '\r'),
        code => {
            matches!(code, 0x7F..=0x9F | 0xAD | 0x034F | 0x200B | 0x202A..=0x202E | 0x2060..=0x2064 | 0x2066..=0x2069 | 0xE0000..=0xE01EF)
                || matches!(code, 0x0334..=0x0338 | 0xFF21..=0xFF5A | 0x1D400..=0x1D7FF)
        }
    };
    raw.chars().any(disguise) || is_mixed(raw)
}

/// Whether a string of JSON has escapes for letters that need none.
fn hides_letters(raw: &str) -> bool {
    raw.match_indices("\\u00").any(|(at, _)| {
        let digits = raw.get(at + 4..at + 6);
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        byte.is_some_and(|byte| byte.is_ascii_alphabetic())
    })
}

/// Latin words with Cyrillic or Greek letters in them.
fn is_mixed(raw: &str) -> bool {
    raw.split(|letter: char| !letter.is_alphabetic()).any(|word| {
        let latin = word.chars().any(|letter| letter.is_ascii_alphabetic());
        latin
            && word
                .chars()
                .any(|letter| matches!(u32::from(letter), 0x0370..=0x052F))
    })
}

/// Whether a decoder leaves what it does not decode as it is.
fn is_in_place(reading: Reading) -> bool {
    matches!(reading, Reading::Leet | Reading::Escapes | Reading::JsonString)
}

fn excerpt(text: &[u8]) -> String {
    String::from_utf8_lossy(text)
        .chars()
        .take(DECODED_LIMIT)
        .collect()
}

fn line_around(source: &str, at: usize) -> Range<usize> {
    let start = source
        .get(..at)
        .and_then(|head| head.rfind('\n'))
        .map_or(0, |start| start + 1);
    let end = source
        .get(at..)
        .and_then(|tail| tail.find('\n'))
        .map_or(source.len(), |end| at + end);
    start..end
}

/// Findings by place, each thing once: of several readings of overlapping bytes, the worst stays.
fn once(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.kind, finding.span.start, finding.span.end));
    let weight = |finding: &Finding| {
        (
            finding.severity,
            finding.confidence,
            finding.reading == Reading::Plain,
            finding.span.len(),
        )
    };
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    let mut end = 0;
    for finding in findings {
        let span = finding.span.clone();
        match kept.last_mut() {
            Some(last) if last.kind == finding.kind && span.start < end => {
                end = end.max(span.end);
                if weight(&finding) > weight(last) {
                    *last = finding;
                }
            }
            _ => {
                end = span.end;
                kept.push(finding);
            }
        }
    }
    kept.sort_by(|a, b| (a.span.start, b.severity, a.kind).cmp(&(b.span.start, a.severity, b.kind)));
    kept
}

#[cfg(test)]
mod tests;
