"""What all experiments share: their interface, the log, the run, the results file, tables and figures."""
