"""Connection of the computer to the recorder: frames in, steps in, routes out."""
