use std::fs;

use super::*;
use crate::dialect::Decode;

#[test]
fn a_file_of_two_names_is_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    fs::write(&path, "text").unwrap();
    let mut reader = Reader::new();
    let first = reader.read(&path, 100).unwrap();
    let second = reader.read(&folder.path().join(".").join("a.md"), 100).unwrap();
    assert_eq!(first.bytes, second.bytes);
    assert_eq!(reader.opened().len(), 1);
}

#[test]
fn a_large_file_is_read_up_to_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.md");
    fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    let contents = Reader::new().read(&path, 1000).unwrap();
    assert_eq!((contents.bytes.len(), contents.size), (1000, 1 << 30));
    assert!(contents.is_bounded());
}

#[cfg(unix)]
#[test]
fn what_is_no_file_has_a_name_and_never_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = std::process::Command::new("mkfifo")
        .arg(at("fifo"))
        .status()
        .unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    std::os::unix::fs::symlink("gone", at("dangling")).unwrap();
    std::os::unix::fs::symlink("loop", at("loop")).unwrap();
    let mut reader = Reader::new();
    let mut code = |path: &std::path::Path| reader.read(path, 10).unwrap_err().code();
    assert_eq!(code(&at("fifo")), "is_fifo");
    assert_eq!(code(&at("socket")), "is_socket");
    assert_eq!(code(&at("dangling")), "dangling_link");
    assert_eq!(code(&at("loop")), "link_loop");
    assert_eq!(code(&at("nothing")), "missing");
    assert_eq!(code(folder.path()), "is_directory");
    assert_eq!(code(std::path::Path::new("/dev/null")), "is_device");
}

#[test]
fn broken_utf8_keeps_the_text_and_says_where() {
    let decoded = decode(b"Rule: \x93foo\x94", Decode::Detect);
    assert_eq!(decoded.text, "Rule: \u{FFFD}foo\u{FFFD}");
    assert_eq!(decoded.first_invalid, Some(6));
    assert_eq!(decoded.looks_like, Some("Windows-1252"));
}

#[test]
fn utf16_is_read_with_and_without_a_mark() {
    let little: Vec<u8> = "hello".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = "\u{FEFF}hello"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    assert_eq!(decode(&little, Decode::Detect).text, "hello");
    assert_eq!(decode(&big, Decode::Detect).text, "\u{FEFF}hello");
    let lossy = decode(&little, Decode::Utf8Lossy);
    assert_eq!(
        (lossy.encoding, lossy.looks_like),
        (Encoding::Utf8, Some("UTF-16LE"))
    );
}
