//! Content encodings of copies. What the client gets is never decoded.

use std::io::{self, Read};

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use hyper::HeaderMap;
use hyper::header::CONTENT_ENCODING;

/// The most that a copy may decode to.
const LONGEST: u64 = 128 * 1024 * 1024;

/// A copy that cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub(super) enum CodingError {
    /// An encoding that is not known.
    #[error("its content encoding `{0}` is not known")]
    Unknown(String),
    /// Not what its encoding says.
    #[error("it cannot be decoded as `{0}`: {1}")]
    Broken(String, io::Error),
    /// Too long.
    #[error("it decodes to more than {LONGEST} bytes")]
    TooLong,
}

/// A body as it reads. One that breaks off gives what there is of it, and its error.
pub(super) fn decode(headers: &HeaderMap, body: &[u8]) -> (Vec<u8>, Option<CodingError>) {
    let values = headers.get_all(CONTENT_ENCODING).into_iter();
    let codings: Vec<String> = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect();
    let mut bytes = body.to_vec();
    // The last one was applied last.
    for coding in codings.into_iter().rev() {
        let (decoded, error) = one(&coding, &bytes);
        bytes = decoded;
        if error.is_some() {
            return (bytes, error);
        }
    }
    (bytes, None)
}

fn one(coding: &str, body: &[u8]) -> (Vec<u8>, Option<CodingError>) {
    match coding {
        "gzip" | "x-gzip" => read(coding, MultiGzDecoder::new(body)),
        // Some send what the name says, some what the standard says.
        "deflate" => match read(coding, ZlibDecoder::new(body)) {
            (_, Some(CodingError::Broken(..))) => read(coding, DeflateDecoder::new(body)),
            done => done,
        },
        "br" => read(coding, brotli_decompressor::Decompressor::new(body, 16 * 1024)),
        "zstd" => match ruzstd::decoding::StreamingDecoder::new(body) {
            Ok(decoder) => read(coding, decoder),
            Err(error) => {
                let error = io::Error::other(error.to_string());
                (Vec::new(), Some(CodingError::Broken(coding.to_owned(), error)))
            }
        },
        other => (Vec::new(), Some(CodingError::Unknown(other.to_owned()))),
    }
}

fn read(coding: &str, decoder: impl Read) -> (Vec<u8>, Option<CodingError>) {
    let mut out = Vec::new();
    let error = match decoder.take(LONGEST + 1).read_to_end(&mut out) {
        Ok(_) if out.len() as u64 > LONGEST => Some(CodingError::TooLong),
        Ok(_) => None,
        Err(error) => Some(CodingError::Broken(coding.to_owned(), error)),
    };
    (out, error)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn decoded(coding: &str, body: &[u8]) -> (String, Option<String>) {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, coding.parse().unwrap());
        let (bytes, error) = decode(&headers, body);
        (
            String::from_utf8(bytes).unwrap(),
            error.map(|error| error.to_string()),
        )
    }

    #[test]
    fn every_usual_encoding_is_read() {
        let text = "data: {}\n\n".repeat(50);
        let (mut gzip, mut zlib, mut raw) = (
            GzEncoder::new(Vec::new(), Compression::fast()),
            ZlibEncoder::new(Vec::new(), Compression::fast()),
            DeflateEncoder::new(Vec::new(), Compression::fast()),
        );
        for writer in [&mut gzip as &mut dyn std::io::Write, &mut zlib, &mut raw] {
            writer.write_all(text.as_bytes()).unwrap();
        }
        let (gzip, zlib, raw) = (
            gzip.finish().unwrap(),
            zlib.finish().unwrap(),
            raw.finish().unwrap(),
        );
        let zstd =
            ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        for (coding, body) in [
            ("gzip", &gzip),
            ("deflate", &zlib),
            ("deflate", &raw),
            ("zstd", &zstd),
        ] {
            assert_eq!(decoded(coding, body), (text.clone(), None), "{coding}");
        }
        // "hello" in one raw brotli block.
        let brotli = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
        assert_eq!(decoded("br", &brotli), ("hello".to_owned(), None));
        assert_eq!(decoded("identity", b"x"), ("x".to_owned(), None));
    }

    #[test]
    fn what_breaks_off_gives_what_there_is() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
        gzip.write_all(b"hello").unwrap();
        let mut body = gzip.finish().unwrap();
        body.truncate(body.len() - 6);
        let (text, error) = decoded("gzip", &body);
        assert_eq!(text, "hello");
        assert!(error.unwrap().contains("gzip"));
        assert!(decoded("compress", b"x").1.unwrap().contains("not known"));
        assert!(decoded("zstd", b"x").1.is_some());
    }
}
