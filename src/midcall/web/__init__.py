"""What the portal and the browser answerer share: serving pages, who may open them, and forms as HTML."""
