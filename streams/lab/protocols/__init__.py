"""How the papers draw data, ask for judgments and fit models."""
