// `sub shim` for the help only: bin/sub.cjs starts a shim by packages/cli/entry/shim.ts, which loads less.
import { badUsage, defineCommand, optionalMany, textOption } from '../input/command.ts';
import { PROFILE_DOC, REMOTE_OPTIONS } from '../input/shared-options.ts';

export const command = defineCommand({
  description:
    'Starts the server, or connects to the one at an address, and forwards everything between it and the agent unchanged. The policy decides tool calls first, and they are recorded. Without --policy, the policy of the user applies, and that of the project tightens it, or applies alone once it is trusted. Without any policy, calls are recorded, and only calls that would change the governance itself are refused.',
  args: {
    command: optionalMany(
      'The command of the server and its arguments, behind `--`; none with --url',
    ),
  },
  options: {
    'server-name': textOption('name', 'The name of the server in policies and events'),
    'server-id': textOption('name', 'Another spelling of --server-name'),
    'server-env': textOption(
      'names',
      'Variables, separated by commas, that do not identify the caller; set by `sub import`',
    ),
    'url-env': textOption(
      'variable',
      'The variable that holds the address, where that is a secret itself',
    ),
    ...REMOTE_OPTIONS,
    'client-id': textOption(
      'id',
      'The OAuth client that `sub auth login` is for this server; set by `sub import`',
    ),
    'redirect-uri': textOption('url', 'Where its browser comes back to; set by `sub import`'),
    scope: textOption('scopes', 'What it asks for, separated by spaces; set by `sub import`'),
    policy: textOption('file', 'The policy: a bundle or a compiled snapshot'),
    profile: textOption('name', PROFILE_DOC),
    'governance-endpoint': textOption(
      'url',
      'The hub that counts for all servers of the run: unix:PATH or http://127.0.0.1:PORT',
    ),
    events: textOption('where', 'Where events go: ledger, file:PATH or off'),
    'log-level': textOption(
      'level',
      'What to log to stderr as JSON lines: error, warn, info or debug',
    ),
    verbose: 'The same as --log-level debug',
    wrap: textOption('id', 'The session of `sub wrap` that wrote this command; set by `sub wrap`'),
  },
  hasJson: false,
  examples: [
    'sub shim --server-name files -- npx -y @modelcontextprotocol/server-filesystem .',
    'sub shim --server-name git --policy policy.yaml --events file:events.jsonl -- git-mcp',
    'sub shim --server-name linear --url https://mcp.linear.app/mcp --bearer-env LINEAR_TOKEN',
  ],
  exitCodes: {
    0: 'the agent closed the session, or the hub of the run has ended',
    1: 'the server could not be started',
    2: 'wrong flags, a broken policy or configuration, or a hub that does not answer',
    3: 'the policy terminated the run',
  },
  // bin/sub.cjs comes here only when a word asks for help. When that word is the value of an option,
  // as in `--server-name -h`, the parser does not see a request for help either.
  run: async () => {
    const fix = 'Write a value that starts with a dash in the same word: `--server-name=-h`.';
    return badUsage('the value of an option looks like an option.', fix);
  },
});
