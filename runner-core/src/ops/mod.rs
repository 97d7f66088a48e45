//! The tools, one file each: arguments -> answer. Both faces call these and nothing else.
