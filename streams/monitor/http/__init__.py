"""HTTP: routes and their handlers, what may be sent and by whom, and the form of every response."""
