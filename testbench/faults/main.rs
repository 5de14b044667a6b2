//! Faults on purpose: each is planted into a copy of the RTL, built, and must be noticed.
//! Only with `RNIC_FAULTS=1` (`make faults`): every fault is a build.

mod assertions_fire;
mod own_rtl;
mod rtl_faults;
mod wrong_copy;
