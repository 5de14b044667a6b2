//! Safe handle of the Verilated RTL.
