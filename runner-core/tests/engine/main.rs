//! The engine, tried on scripts: what it promises of every run, however the run goes.

mod ends;
mod environment;
mod scripted;
mod steps;
mod strings;
