"""The lab: experiments, protocols and measures of the papers, run on any log."""
