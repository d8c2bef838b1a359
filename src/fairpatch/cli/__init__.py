"""The command line: one file a verb. Heavy imports happen inside verbs, so that help is instant."""
