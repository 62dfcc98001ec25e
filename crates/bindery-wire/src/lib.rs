//! Provider request formats, byte for byte, with a span map from body bytes to fragments. No HTTP.
