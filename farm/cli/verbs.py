"""The verbs, in the order a person meets them, with the sentence that `farm --help` shows.

The table is plain data so that help costs no import: a verb's module is loaded when the verb is used.
"""

VERBS: dict[str, str] = {
    "init": "Make a folder with a small sweep that runs.",
    "plan": "Show what a sweep would run, without running it.",
    "lock": "Fix all that decides what a sweep will say, before it is paid for.",
    "power": "Play a sweep's gates before it is paid for.",
    "task": "Prove a sweep's tasks before a session is paid for.",
    "run": "Run a sweep on this machine, from file to verdict.",
    "submit": "Freeze a sweep into the store, for workers on any host.",
    "coordinate": "Send a submitted sweep's cells to the workers.",
    "worker": "Run cells on this host.",
    "provider": "Answer model requests from a script, to try a sweep for free.",
    "hosts": "List the workers that are alive, and what they offer.",
    "drain": "Let a host take no more cells.",
    "undrain": "Let a drained host take cells again.",
    "status": "Show how far the sweeps are.",
    "cancel": "End a sweep: stop its running cells and settle.",
    "resume": "Go on with a sweep that was interrupted.",
    "finalize": "Close a sweep: settle, clean up, judge, report, seal.",
    "gate": "Judge a settled sweep again, from the store alone.",
    "report": "Print a finalized sweep's verdict and where its reports are.",
    "faults": "Show that a governor does what it is built for, without a model.",
    "stats": "Compare two arms of a table of trials, without a sweep.",
    "export": "Print a sweep as rows for other tools.",
    "durations": "Print what a sweep's cells took, for the next sweep's plan.",
    "verify": "Re-walk a sealed sweep's digest chain and recompute its verdict.",
    "attest": "Sign a sealed sweep, so that nobody can write it anew unseen.",
    "doctor": "Check that this machine and its services can run sweeps.",
}
