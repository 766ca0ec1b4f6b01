"""How far the judges of a log agree, and how its systems compare head to head."""
