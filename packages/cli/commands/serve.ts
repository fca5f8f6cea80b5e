// `sub serve`: MCP servers over HTTP, governed, until a signal ends it.
import { isFailure } from '@subluminal/contracts';
import { formatProblem } from '@subluminal/core/source';
import { limitHeapGrowth } from '@subluminal/gateway/heap-growth';
import { startServe } from '@subluminal/plane/apps/serve';
import { onSignal } from '@subluminal/plane/stdio';
import { defineCommand, done, EXIT, textOption } from '../input/command.ts';
import { loadOwnConfig } from '../input/own-config.ts';
import { PROFILE_DOC } from '../input/shared-options.ts';
import { harmless } from '../terminal/text.ts';

export const start = defineCommand({
  description:
    'Serves the MCP servers of a configuration under one address, each at `/mcp/NAME`, and governs every call as a shim does. A server is reached by its address, or started for each session. All protocol versions from 2025-03-26 on are spoken. A changed configuration is taken over at once; a broken one changes nothing. SIGTERM lets open calls end; a second one ends it at once.',
  options: {
    config: textOption('FILE', 'The configuration: who may call, and which servers there are'),
    policy: textOption('file', 'The policy: a bundle or a compiled snapshot'),
    profile: textOption('name', PROFILE_DOC),
    events: textOption('where', 'Where events go: ledger, file:PATH or off'),
    'log-level': textOption(
      'level',
      'What to log to stderr as JSON lines: error, warn, info or debug',
    ),
  },
  examples: ['sub serve --config serve.yaml', 'sub serve --config serve.yaml --policy policy.yaml'],
  exitCodes: {
    0: 'a signal has ended it',
    1: 'the configuration has errors',
    2: 'wrong flags, or it could not be started',
  },
  hasJson: false,
  run: async ({ options }, io) => {
    process.umask(0o077);
    const { config: file = 'serve.yaml', policy, profile, events } = options;
    const flags = { policy, profile, events, 'log-level': options['log-level'] };
    const log = (line: string) =>
      io.err.write(`${new Date().toISOString()} serve: ${harmless(line)}\n`);
    const loaded = await loadOwnConfig(flags);
    const cwd = process.cwd();
    const started = await startServe({ file, loaded, env: process.env, cwd, flags, log });
    if (isFailure(started)) return started;
    if (started.kind === 'invalid') {
      for (const problem of started.problems) io.err.write(`${harmless(formatProblem(problem))}\n`);
      return done(EXIT.findings);
    }
    limitHeapGrowth();
    let signals = 0;
    const ended = new Promise<void>((resolve) => {
      onSignal((signal) => {
        if (signal === 'SIGHUP') return started.reload();
        signals += 1;
        resolve();
      });
    });
    log(`It listens on ${started.url}, for ${started.servers.join(', ') || 'no servers'}.`);
    await ended;
    log('It takes no new sessions and calls, and ends when open calls have ended.');
    await started.close(() => signals > 1);
    return done(EXIT.fine);
  },
});
