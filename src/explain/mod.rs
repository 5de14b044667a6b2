//! Why was a modify refused?
