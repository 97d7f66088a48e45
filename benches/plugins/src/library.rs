//! As a library.

mod backend;

dylib_plugin::export_with!(backend::make);
