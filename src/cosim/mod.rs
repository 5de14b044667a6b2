//! Driver, scoreboard and stimulus.
