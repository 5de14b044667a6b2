//! Are completion queues deep enough?
