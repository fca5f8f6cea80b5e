// `sub serve key`: an API key for a caller of `sub serve`.
import { failure } from '@subluminal/contracts';
import { newToken, tokenHash } from '@subluminal/plane/crypto';
import { isKeyName } from '@subluminal/plane/serve/auth';
import { SERVER_NAME } from '@subluminal/plane/serve/config';
import { defineCommand, printout, textsOption } from '../input/command.ts';
import { harmlessLine } from '../terminal/text.ts';

export const key = defineCommand({
  description:
    'Makes an API key and prints it once, with the entry for `auth.keys` of the configuration. The entry holds the digest of the key only: whoever reads the configuration cannot call with it. The key opens nothing until the entry is there.',
  args: { name: 'Who calls with the key' },
  options: { server: textsOption('NAME', 'A server that the key opens (default: all)') },
  examples: ['sub serve key ci', 'sub serve key laptop --server github --server files'],
  exitCodes: {
    0: 'the key is printed',
    2: 'wrong flags, or a name that a key or a server cannot have',
  },
  requires: 'person',
  run: async ({ args, options }) => {
    const { name } = args;
    if (!isKeyName(name)) {
      const fix = 'Use letters, digits, `.`, `_`, `@` and `-`, 64 of them at most.';
      return failure('SUB_USAGE', `a key cannot be named \`${name}\`.`, fix);
    }
    const other = options.server.find((server) => !SERVER_NAME.test(server));
    if (other !== undefined) {
      const fix = 'Give the name that it has in `servers` of the configuration.';
      return failure('SUB_USAGE', `a server cannot be named \`${other}\`.`, fix);
    }
    const token = newToken('serve');
    const sha256 = tokenHash(token);
    const servers = options.server.length === 0 ? undefined : options.server;
    const text = [
      `The key of ${name}. It is shown this once:`,
      `  ${token}`,
      'Add this to `auth` of the configuration, or to the file that its `keys_file` names:',
      '  keys:',
      `    - name: ${JSON.stringify(name)}`,
      `      sha256: ${sha256}`,
      ...(servers === undefined ? [] : [`      servers: ${JSON.stringify(servers)}`]),
    ];
    const document = { name, key: token, sha256, servers: servers ?? null };
    return printout(document, text.map(harmlessLine).join(''));
  },
});
