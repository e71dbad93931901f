"""Named profiles of the browser: kept between desktops, and used by one desktop at a time."""
