// What keeps a server's secrets from being injected or stored; a part of the table in errors.ts.

export const SECRET_ERRORS = {
  SUB_SECRET_MISSING: {
    title: 'A secret is not there.',
    cause:
      'A server has a binding for it, but the variable is not set, the file does not exist, or the keychain, the store or the service has none of that name.',
    fix: 'Set the variable, write the file with mode 0600, run `sub secrets add`, or remove the binding from config.toml.',
  },
  SUB_SECRET_UNUSABLE: {
    title: 'A secret cannot be used.',
    cause:
      'Its file can be read by others or is no plain text file of yours, its value is empty, too long, or too short to be redacted, or the place that it is in cannot be reached or does not give it.',
    fix: 'Do what the message says; most often it is `chmod 600` on the file.',
  },
  SUB_SECRET_UNKNOWN: {
    title: 'The store has no such secret.',
    cause: '`sub secrets` was given a name that is not in the store, or there is no store yet.',
    fix: 'Look at `sub secrets list`, or add it with `sub secrets add`.',
  },
  SUB_SECRET_EXISTS: {
    title: 'The store has that secret already.',
    cause: '`sub secrets add` never replaces a value.',
    fix: 'Give it a new value with `sub secrets rotate`, or choose another name.',
  },
  SUB_VAULT_KEY: {
    title: 'The store of secrets cannot be unlocked.',
    cause:
      'The passphrase is wrong or missing, the keychain does not answer, or the key file is missing, damaged or open to others.',
    fix: 'Do what the message says. The store itself is unchanged; without its key it cannot be read.',
  },
  SUB_VAULT_DAMAGED: {
    title: 'The store of secrets is damaged.',
    cause:
      '`vault.db` is not what was written: a part of it was changed, cut off or put back, or the file is not private.',
    fix: 'Put a copy of `vault.db` back that is whole, or move it away and add the secrets again.',
  },
  SUB_VAULT_NEWER: {
    title: 'The store of secrets is of a newer version.',
    cause: 'A later `sub` has written `vault.db`.',
    fix: 'Use that version of `sub`; this one has changed nothing.',
  },
  SUB_VAULT_BUSY: {
    title: 'Another process is changing the store of secrets.',
    cause:
      'One process at a time may change it, and the other one has not ended within ten seconds.',
    fix: 'Wait for the other process to end, and try again.',
  },
} as const;
