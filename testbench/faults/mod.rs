//! Builds of their own. Faults on purpose: each is planted into a copy of the RTL and must be
//! noticed. And builds of another kind.
//!
//! Only with `RNIC_FAULTS=1` (`make faults`): every one takes a minute or more.

mod assertions_fire;
mod other_builds;
mod own_rtl;
mod planted;
mod rtl_faults;
mod wrong_copy;
