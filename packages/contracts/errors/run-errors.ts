// The errors of runs: their hub and their agent.

export const RUN_ERRORS = {
  SUB_HUB_LISTEN: {
    title: 'The hub of a run cannot listen.',
    cause:
      'Its port or socket is in use or may not be made, its folder is open to others, or its token is too weak.',
    fix: 'Mend what the message names; without a chosen port, a free one is taken.',
  },
  SUB_HUB_ENDPOINT: {
    title: 'The address of the hub cannot be used.',
    cause:
      'A hub is reached by `unix:/path`, or by `http://127.0.0.1:PORT` with a token; calls are told to no other machine.',
    fix: 'Give the address that the hub has printed, and its token.',
  },
  SUB_HUB_DOWN: {
    title: 'The hub of the run does not answer.',
    cause: 'It has not started, has ended, or hangs, so the counters of the run are out of reach.',
    fix: 'Start the run again; look at what ended `sub run`.',
  },
  SUB_SHIM_LOOSE: {
    title: 'A server does not start, because its entry loosens the run.',
    cause:
      'The run is in the profile `production`, and the entry of the server starts `sub shim` with options or variables that weaken it and that no `sub import` of this home wrote.',
    fix: 'Run `sub import` to put a shim without them in its place, or take them out of the entry. If they are yours, give them to `sub import` (`--policy`, `--profile`), or write them into config.toml.',
  },
  SUB_AGENT_START: {
    title: 'The agent did not start.',
    cause: 'The command behind `sub run … --` does not exist, or the system does not execute it.',
    fix: 'Check the name, PATH and the permissions of the file.',
  },
  SUB_TRUST_STORE: {
    title: 'What was trusted cannot be read or written.',
    cause:
      'The file trust.json in the home was edited or damaged, is not signed with the key of the home, belongs to or can be written by somebody else, is being changed by another process, or its disk is full.',
    fix: 'Mend what the message names; without the file, nothing is trusted, and `sub trust` trusts again.',
  },
} as const;
