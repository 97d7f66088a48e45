//! A report as JUnit XML.
