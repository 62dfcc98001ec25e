use std::sync::Arc;

use object_store::memory::InMemory;

use super::*;

fn both() -> (tempfile::TempDir, Vec<Box<dyn Blobs>>) {
    let dir = tempfile::tempdir().unwrap();
    let blobs: Vec<Box<dyn Blobs>> = vec![
        Box::new(ObjectBlobs::in_dir(dir.path().join("blobs"))),
        Box::new(ObjectBlobs::over(Arc::new(InMemory::new()))),
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
    let blobs = ObjectBlobs::in_dir(dir.path());
    let hash = blobs.put(b"whole").unwrap();
    fs::write(dir.path().join(ObjectBlobs::name(&hash)), b"other").unwrap();
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

#[test]
fn every_store_keeps_content_under_its_hash() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("not/made/yet");
    let stores: [Box<dyn Blobs>; 3] = [
        Box::new(MemoryBlobs::default()),
        Box::new(ObjectBlobs::in_dir(&folder)),
        Box::new(ObjectBlobs::over(Arc::new(InMemory::new()))),
    ];
    for blobs in stores {
        let absent = blobs.get(&ContentHash::of(b"absent")).unwrap_err();
        assert!(matches!(absent, BlobError::Missing { .. }), "{absent}");
        for bytes in [&b""[..], b"a", &vec![7; 100_000]] {
            let hash = blobs.put(bytes).unwrap();
            assert_eq!(blobs.put(bytes).unwrap(), hash);
            assert_eq!(blobs.get(&hash).unwrap(), bytes);
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "nobody else may enter");
    }
}

/// A runtime around it changes nothing: the loop commits from within one.
#[test]
fn it_works_within_a_runtime() {
    let dir = tempfile::tempdir().unwrap();
    let blobs = ObjectBlobs::in_dir(dir.path());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let hash = runtime.block_on(async { blobs.put(b"large").unwrap() });
    assert_eq!(runtime.block_on(async { blobs.get(&hash).unwrap() }), b"large");
}
