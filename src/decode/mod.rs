//! Meaning of pasted dumps.
