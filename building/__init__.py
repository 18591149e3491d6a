"""What builds, serves and tests the site; none of it is shipped."""
