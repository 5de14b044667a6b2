//! The co-simulation itself: its parts, and what it notices, on a stand-in for the hardware.

mod host_rings;
mod port_patterns;
mod records;
mod stand_in;
mod stand_in_faults;
mod stand_in_scenarios;
