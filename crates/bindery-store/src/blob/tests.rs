use super::*;

fn both() -> (tempfile::TempDir, Vec<Box<dyn Blobs>>) {
    let dir = tempfile::tempdir().unwrap();
    let blobs: Vec<Box<dyn Blobs>> = vec![
        Box::new(DirBlobs::new(dir.path().join("blobs"))),
        Box::new(MemoryBlobs::default()),
    ];
    (dir, blobs)
}

#[test]
fn what_is_streamed_in_is_what_is_put() {
    let (_dir, all) = both();
    let bytes: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    for blobs in all {
        let (hash, length) = blobs.put_from(&mut &*bytes).unwrap();
        assert_eq!((hash, length), (blobs.put(&bytes).unwrap(), 300_000));
        let mut read = Vec::new();
        blobs.open(&hash).unwrap().read_to_end(&mut read).unwrap();
        assert!(read == bytes);
        let digits: String = hash.to_string().chars().take(16).collect();
        assert_eq!(blobs.find(&digits).unwrap(), [hash]);
        assert_eq!(blobs.find("ffff").unwrap(), []);
        assert_eq!(blobs.find("f").unwrap(), []);
        assert!(blobs.open(&ContentHash::of(b"other")).is_err());
    }
}

#[test]
fn a_damaged_blob_is_found_out_while_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = DirBlobs::new(dir.path());
    let hash = blobs.put(b"whole").unwrap();
    fs::write(blobs.path(&hash), b"other").unwrap();
    let error = blobs
        .open(&hash)
        .unwrap()
        .read_to_end(&mut Vec::new())
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    // Putting it again mends it.
    blobs.put_from(&mut &b"whole"[..]).unwrap();
    assert_eq!(blobs.get(&hash).unwrap(), b"whole");
}
