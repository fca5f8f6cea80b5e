// The errors of adoption: agent clients, and what is changed in their configs.

export const CLIENT_ERRORS = {
  SUB_CLIENT_UNKNOWN: {
    title: 'The agent client is not known.',
    cause:
      'The name is none of the clients that Subluminal knows, or the command does not tell which of them it starts.',
    fix: 'Use a name that the message lists; for any other agent, `custom` and `--config-path`.',
  },
  SUB_CLIENT_CONFIG: {
    title: 'The config of an agent client cannot be used.',
    cause:
      'It is not there, is empty or malformed, has no server that could be governed, or needs a variable that is not set.',
    fix: 'Mend what the message names, or give the right file with `--config-path`.',
  },
  SUB_CLIENT_GOVERNED: {
    title: 'The config is governed already.',
    cause: 'An entry of it starts a shim; a shim before a shim would decide every call twice.',
    fix: 'Start the agent with `sub run`, if all of its servers are behind shims; else govern the rest with `sub import` first, or take the shims out with `sub restore`.',
  },
  SUB_CLIENT_LOCKED: {
    title: 'The config is in use by another `sub`.',
    cause: 'A `sub wrap` that still runs has rewritten it, or another command is changing it.',
    fix: 'Wait until that one has ended.',
  },
  SUB_CLIENT_WRITE: {
    title: 'The config of an agent client was not changed.',
    cause:
      'It or its folder may not be written, the disk is full, or another program keeps writing it.',
    fix: 'Mend what the message names, and try again; the file is as it was.',
  },
  SUB_CLIENT_RESTORE: {
    title: 'The config of an agent client cannot be put back.',
    cause:
      'What stands in it now, or in the record of the change, does not tell safely what was there before.',
    fix: 'Follow the message: it names the backup and what to do by hand.',
  },
  SUB_OWN_PATH: {
    title: 'The path of `sub` itself cannot be found.',
    cause:
      'Configs name the shim by an absolute path without links, and the program that runs now has none.',
    fix: 'Start `sub` from where it is installed.',
  },
} as const;
