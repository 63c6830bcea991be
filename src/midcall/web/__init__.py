"""What all our pages share: serving them, who may open them, and forms as HTML."""
