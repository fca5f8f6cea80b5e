// What keeps a server's secrets from being injected; a part of the table in errors.ts.

const SECRET_ERRORS = {
  SUB_SECRET_MISSING: {
    title: 'A secret is not there.',
    cause: 'A server has a binding for it, but the variable is not set or the file does not exist.',
    fix: 'Set the variable, write the file with mode 0600, or remove the binding from config.toml.',
  },
  SUB_SECRET_UNUSABLE: {
    title: 'A secret cannot be used.',
    cause:
      'Its file can be read by others or is no plain text file of yours, or its value is empty, too long, or too short to be redacted.',
    fix: 'Do what the message says; most often it is `chmod 600` on the file.',
  },
} as const;

export { SECRET_ERRORS };
