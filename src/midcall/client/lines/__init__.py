"""Line prompts: questions answered at any terminal, one line at a time."""
