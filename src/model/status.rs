//! `ibv_wc_status` numbers that the hardware itself writes or asks for.

/// The work request succeeded; every other number is an error.
pub const SUCCESS: u8 = 0;
/// Local length error.
pub const LOC_LEN_ERR: u8 = 1;
/// Local QP operation error: the form of the work request.
pub const LOC_QP_OP_ERR: u8 = 2;
/// Local protection error: a key.
pub const LOC_PROT_ERR: u8 = 4;
/// Flushed because the queue is in error.
pub const WR_FLUSH_ERR: u8 = 5;
